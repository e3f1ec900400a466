#include "client/inspect/any_call.h"

#include <grpcpp/support/slice.h>

#include <chrono>
#include <vector>

#include "absl/time/clock.h"

namespace waystar::inspect {
namespace {

bool Parse(const grpc::ByteBuffer& bytes, google::protobuf::Message& message) {
  grpc::Slice slice;
  return bytes.DumpToSingleSlice(&slice).ok() &&
         message.ParseFromArray(slice.begin(), static_cast<int>(slice.size()));
}

}  // namespace

AnyCall::AnyCall(const client::Connection& connection, const std::string& method,
                 const google::protobuf::Message& request, absl::Duration timeout)
    : request_(Serialize(request)) {
  connection.Prepare(context_, timeout);
  stream_ = grpc::GenericStub(connection.channel()).PrepareCall(&context_, method, &queue_);
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

AnyCall::Event AnyCall::Wait(absl::Duration time, google::protobuf::Message& response) {
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
    if (Parse(response_, response)) {
      has_message_ = true;
      return Event::kMessage;
    }
    context_.TryCancel();
    Read();
  }
  return Event::kEnd;
}

grpc::ByteBuffer AnyCall::Serialize(const google::protobuf::Message& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return {&slice, 1};
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

}  // namespace waystar::inspect
