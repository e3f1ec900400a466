#include "server/http/any_call.h"

#include <utility>

#include "grpcpp/generic/generic_stub.h"
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

AnyCall::AnyCall(const std::string& request, Events events, std::shared_ptr<void> guard)
    : guard_(std::move(guard)), request_(BytesOf(request)), events_(std::move(events)) {}

std::shared_ptr<AnyCall> AnyCall::Start(const std::shared_ptr<grpc::Channel>& channel,
                                        const std::string& method, const std::string& request,
                                        const std::function<void(grpc::ClientContext&)>& prepare,
                                        Events events, std::shared_ptr<void> guard) {
  std::shared_ptr<AnyCall> call(new AnyCall(request, std::move(events), std::move(guard)));
  call->self_ = call;
  prepare(call->context_);
  grpc::GenericStub(channel).PrepareBidiStreamingCall(&call->context_, method, grpc::StubOptions(),
                                                      call.get());
  // Reads begin after the call of a reaction has returned, too.
  call->AddHold();
  call->StartWriteLast(&call->request_, grpc::WriteOptions());
  call->StartRead(&call->response_);
  call->StartCall();
  return call;
}

void AnyCall::Next() {
  {
    MutexLock lock(mutex_);
    if (is_reading_ || is_over_) {
      return;
    }
    is_reading_ = true;
  }
  StartRead(&response_);
}

void AnyCall::Cancel() {
  context_.TryCancel();
  // Only a read finds the end.
  Next();
}

void AnyCall::OnReadDone(bool ok) {
  {
    MutexLock lock(mutex_);
    is_reading_ = false;
    is_over_ = !ok;
  }
  std::string message;
  if (!ok) {
    RemoveHold();
  } else if (CopyTo(response_, message)) {
    events_.on_message(self_, std::move(message));
  } else {
    Cancel();
  }
}

void AnyCall::OnDone(const grpc::Status& status) {
  events_.on_end(status);
  // What hears of the call may hold it.
  events_ = {};
  const std::shared_ptr<AnyCall> last = std::move(self_);
}

}  // namespace waystar::http
