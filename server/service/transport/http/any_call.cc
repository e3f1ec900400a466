#include "server/service/transport/http/any_call.h"

#include <cstddef>
#include <utility>

#include "grpcpp/generic/generic_stub.h"

namespace waystar::http {

AnyCall::AnyCall(const grpc::ByteBuffer& request, Events events, std::shared_ptr<void> guard)
    : guard_(std::move(guard)), request_(request), events_(std::move(events)) {}

std::shared_ptr<AnyCall> AnyCall::Start(const std::shared_ptr<grpc::Channel>& channel,
                                        const std::string& method, const grpc::ByteBuffer& request,
                                        const std::function<void(grpc::ClientContext&)>& prepare,
                                        Events events, std::shared_ptr<void> guard) {
  std::shared_ptr<AnyCall> call(new AnyCall(request, std::move(events), std::move(guard)));
  call->self_ = call;
  prepare(call->context_);
  grpc::GenericStub(channel).PrepareBidiStreamingCall(&call->context_, method, grpc::StubOptions(),
                                                      call.get());
  // The hold allows reads to start outside of the callbacks.
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
  // Only a read notices the end.
  Next();
}

void AnyCall::OnReadDone(bool ok) {
  grpc::ByteBuffer message;
  {
    MutexLock lock(mutex_);
    // The next read may start at once.
    message.Swap(&response_);
    is_reading_ = false;
    is_over_ = !ok;
  }
  if (ok) {
    events_.on_message(self_, message);
  } else {
    RemoveHold();
  }
}

void AnyCall::OnDone(const grpc::Status& status) {
  events_.on_end(status);
  // The callbacks may hold the call.
  events_ = {};
  const std::shared_ptr<AnyCall> last = std::move(self_);
}

std::shared_ptr<void> OpenCalls::Enter() {
  MutexLock lock(mutex_);
  if (is_closed_) {
    return nullptr;
  }
  ++count_;
  return {this, [self = shared_from_this()](void* /*place*/) {
            MutexLock leaving(self->mutex_);
            --self->count_;
            self->is_less_.NotifyAll();
          }};
}

void OpenCalls::Add(const std::shared_ptr<AnyCall>& call) {
  {
    MutexLock lock(mutex_);
    if (!is_closed_) {
      if (calls_.size() > 2 * static_cast<std::size_t>(count_) + 16) {
        std::erase_if(calls_, [](const std::weak_ptr<AnyCall>& each) { return each.expired(); });
      }
      calls_.push_back(call);
      return;
    }
  }
  call->Cancel();
}

void OpenCalls::CancelAndWait() {
  std::vector<std::weak_ptr<AnyCall>> calls;
  {
    MutexLock lock(mutex_);
    is_closed_ = true;
    calls = std::move(calls_);
  }
  for (const std::weak_ptr<AnyCall>& each : calls) {
    if (const std::shared_ptr<AnyCall> call = each.lock(); call != nullptr) {
      call->Cancel();
    }
  }
  MutexLock lock(mutex_);
  while (count_ > 0) {
    is_less_.Wait(mutex_);
  }
}

}  // namespace waystar::http
