#include "server/http/any_call.h"

#include <chrono>

#include "absl/time/clock.h"
#include "grpcpp/support/slice.h"

namespace waystar::http {
namespace {

grpc::ByteBuffer BytesOf(const std::string& message) {
  const grpc::Slice slice(message);
  return {&slice, 1};
}

bool CopyTo(const grpc::ByteBuffer& bytes, std::string& message) {
  grpc::Slice slice;
  if (!bytes.DumpToSingleSlice(&slice).ok()) {
    return false;
  }
  message.assign(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return true;
}

}  // namespace

AnyCall::AnyCall(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                 const std::string& request, const std::function<void(grpc::ClientContext&)>& prepare)
    : request_(BytesOf(request)) {
  prepare(context_);
  stream_ = grpc::GenericStub(channel).PrepareCall(&context_, method, &queue_);
  stream_->StartCall(this);
}

AnyCall::~AnyCall() {
  context_.TryCancel();
  if (has_message_) {
    Read();
  }
  void* tag = nullptr;
  bool ok = false;
  while (step_ != Step::kDone && queue_.Next(&tag, &ok)) {
    if (Advance(ok)) {
      Read();
    }
  }
  queue_.Shutdown();
  while (queue_.Next(&tag, &ok)) {
  }
}

AnyCall::Event AnyCall::Wait(absl::Duration time, std::string& response) {
  if (has_message_) {
    has_message_ = false;
    Read();
  }
  const auto deadline = absl::ToChronoTime(absl::Now() + time);
  void* tag = nullptr;
  bool ok = false;
  while (step_ != Step::kDone) {
    if (queue_.AsyncNext(&tag, &ok, deadline) != grpc::CompletionQueue::GOT_EVENT) {
      return Event::kNothingYet;
    }
    if (!Advance(ok)) {
      continue;
    }
    if (CopyTo(response_, response)) {
      has_message_ = true;
      return Event::kMessage;
    }
    context_.TryCancel();
    Read();
  }
  return Event::kEnd;
}

bool AnyCall::Advance(bool ok) {
  switch (step_) {
    case Step::kStart:
      if (ok) {
        step_ = Step::kWrite;
        stream_->WriteLast(request_, grpc::WriteOptions(), this);
        return false;
      }
      break;
    case Step::kWrite:
      // What keeps a request from being sent is told by the status, behind what there is to read.
      Read();
      return false;
    case Step::kRead:
      if (ok) {
        return true;
      }
      break;
    case Step::kFinish:
    case Step::kDone:
      step_ = Step::kDone;
      return false;
  }
  step_ = Step::kFinish;
  stream_->Finish(&status_, this);
  return false;
}

void AnyCall::Read() {
  step_ = Step::kRead;
  stream_->Read(&response_, this);
}

}  // namespace waystar::http
