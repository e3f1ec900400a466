#include "server/service/transport/http/call_maker.h"

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/support/slice.h"
#include "server/base/error.h"

namespace waystar::http {
namespace {

using google::protobuf::MethodDescriptor;

// Requests up to this size are converted by the thread that serves sockets, and answers up to this size by
// those of the gRPC library. That takes 10 to 40 us, at worst 200 us: often less than waking another thread.
constexpr std::size_t kTinyRequestBytes = 512;
constexpr std::size_t kTinyAnswerBytes = std::size_t{4} << 10;

// A request to send, and the share that counts its bytes.
struct CountedRequest {
  std::string bytes;
  BodyShare share;
};

// The bytes are counted as long as the gRPC library holds them.
grpc::ByteBuffer BytesOf(std::string bytes, BodyShare share) {
  auto request =
      std::make_unique<CountedRequest>(CountedRequest{.bytes = std::move(bytes), .share = std::move(share)});
  std::string& text = request->bytes;
  const grpc::Slice slice(
      text.data(), text.size(), [](void* sent) { delete static_cast<CountedRequest*>(sent); },
      request.release());
  return {&slice, 1};
}

// Retry delay: in this time some messages are converted and some answers are read.
constexpr absl::Duration kRetryDelay = absl::Milliseconds(100);

absl::Status Busy() {
  return Refusal(ErrorReason::kQueueFull, kRetryDelay, "as many messages wait to be converted as may");
}

absl::Status TooMuchUnread() {
  return Refusal(ErrorReason::kAnswersUnread, kRetryDelay,
                 "answers that are not read hold as much as they may");
}

absl::Status TooMuchToSend() {
  return Refusal(ErrorReason::kAnswersUnread, kRetryDelay, "requests hold as much as they may");
}

absl::Status Stopping() { return MakeError(ErrorReason::kDraining, "", "the server is stopping"); }

// One call, from its request to the end of its answer. Owned by the gRPC call and by the exchange.
class CallAnswer : public std::enable_shared_from_this<CallAnswer> {
 public:
  CallAnswer(const MethodDescriptor& method, std::shared_ptr<Exchange> exchange, CallOptions options,
             std::weak_ptr<JsonPool> json)
      : method_(method),
        exchange_(std::move(exchange)),
        options_(std::move(options)),
        json_(std::move(json)) {}

  void Start(const std::shared_ptr<grpc::Channel>& channel, OpenCalls& calls, HttpRequest request) {
    absl::StatusOr<std::string> wire = JsonToWire(*method_.input_type(), request.body);
    if (!wire.ok()) {
      exchange_->Answer(FailureAnswer(options_.status_of(wire.status()), options_.fields));
      return;
    }
    BodyShare share = std::move(request.body_share);
    if (!share.GrowTo(request.body.size() + wire->size())) {
      exchange_->Answer(FailureAnswer(options_.status_of(TooMuchToSend()), options_.fields));
      return;
    }
    request = HttpRequest();
    share.ShrinkTo(wire->size());
    std::shared_ptr<void> place = calls.Enter();
    if (place == nullptr) {
      exchange_->Answer(FailureAnswer(options_.status_of(Stopping()), options_.fields));
      return;
    }
    const auto self = shared_from_this();
    const auto call = AnyCall::Start(
        channel, absl::StrCat("/", method_.service()->full_name(), "/", method_.name()),
        BytesOf(*std::move(wire), std::move(share)), options_.prepare,
        {.on_message = [self](const std::shared_ptr<AnyCall>& from,
                              const grpc::ByteBuffer& message) { self->OnMessage(from, message); },
         .on_end = [self](const grpc::Status& status) { self->OnEnd(status); }},
        std::move(place));
    calls.Add(call);
    // The callback keeps this object, and what `hold` counts, until the answer is sent.
    exchange_->NotifyWhenGone([self, call] {
      if (self->method_.server_streaming()) {
        call->Cancel();
      }
    });
  }

 private:
  void OnMessage(const std::shared_ptr<AnyCall>& call, const grpc::ByteBuffer& message) {
    const std::size_t bytes = message.Length();
    const std::shared_ptr<JsonPool> json = json_.lock();
    if (bytes <= kTinyAnswerBytes || json == nullptr) {
      Convert(*call, message);
    } else if (!options_.hold(exchange_->waiting_bytes() + bytes)) {
      Fail(*call, options_.status_of(TooMuchUnread()));
    } else if (!json->Run(options_.client, bytes,
                          [self = shared_from_this(), call, message] { self->Convert(*call, message); })) {
      Fail(*call, options_.status_of(Busy()));
    }
  }

  void Convert(AnyCall& call, grpc::ByteBuffer message) {
    if (method_.server_streaming() && exchange_->is_gone()) {
      // The client is gone and may have cancelled the call already. Cancel it again all the same: that starts
      // the next read, and only a read notices the end.
      call.Cancel();
      return;
    }
    absl::StatusOr<std::string> json = JsonOf(message);
    if (!json.ok()) {
      Fail(call, {grpc::StatusCode::INTERNAL, std::string(json.status().message())});
      return;
    }
    const std::size_t json_bytes = json->capacity();
    if (!options_.hold(exchange_->waiting_bytes() + message.Length() + json_bytes)) {
      message.Clear();
      options_.hold(exchange_->waiting_bytes());
      Fail(call, options_.status_of(TooMuchUnread()));
      return;
    }
    message.Clear();
    if (!method_.server_streaming()) {
      options_.hold(json_bytes);
      {
        MutexLock lock(mutex_);
        answer_ = *std::move(json);
      }
      call.Next();
    } else {
      {
        MutexLock lock(mutex_);
        Write(options_.form == StreamForm::kLines ? absl::StrCat("{\"result\":", *json, "}\n")
                                                  : absl::StrCat("data: ", *json, "\n\n"));
      }
      *json = std::string();
      options_.hold(exchange_->waiting_bytes());
      exchange_->NotifyWhenRoom([self = shared_from_this(), call = call.shared_from_this()] {
        self->options_.hold(self->exchange_->waiting_bytes());
        call->Next();
      });
    }
  }

  absl::StatusOr<std::string> JsonOf(const grpc::ByteBuffer& message) const {
    grpc::Slice slice;
    if (!message.DumpToSingleSlice(&slice).ok()) {
      return absl::InternalError("an answer cannot be read");
    }
    return WireToJson(*method_.output_type(), {reinterpret_cast<const char*>(slice.begin()), slice.size()});
  }

  // Another thread may be converting a message: a leaving client ends the call at any time.
  void OnEnd(const grpc::Status& ended) {
    MutexLock lock(mutex_);
    const grpc::Status& status = failure_.has_value() ? *failure_ : ended;
    if (has_begun_ || (status.ok() && method_.server_streaming())) {
      const std::string json = StatusJson(status);
      Write(options_.form == StreamForm::kLines ? absl::StrCat("{\"error\":", json, "}\n")
                                                : absl::StrCat("event: end\ndata: ", json, "\n\n"));
      exchange_->Finish();
    } else if (status.ok()) {
      exchange_->Answer({.content_type = kJsonType, .body = std::move(answer_), .fields = options_.fields});
    } else {
      exchange_->Answer(FailureAnswer(status, options_.fields));
    }
  }

  void Write(std::string text) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!std::exchange(has_begun_, true)) {
      const bool is_lines = options_.form == StreamForm::kLines;
      exchange_->BeginStream({.content_type = is_lines ? "application/x-ndjson" : "text/event-stream",
                              .fields = options_.fields,
                              .heartbeat = is_lines ? "\n" : ":\n\n"});
    }
    exchange_->Write(std::move(text));
  }

  // Ends the call, and answers with that status.
  void Fail(AnyCall& call, grpc::Status status) {
    {
      MutexLock lock(mutex_);
      failure_ = std::move(status);
    }
    call.Cancel();
  }

  const MethodDescriptor& method_;
  const std::shared_ptr<Exchange> exchange_;
  const CallOptions options_;
  const std::weak_ptr<JsonPool> json_;
  Mutex mutex_;
  bool has_begun_ ABSL_GUARDED_BY(mutex_) = false;
  // The message of a call with one answer.
  std::string answer_ ABSL_GUARDED_BY(mutex_);
  std::optional<grpc::Status> failure_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

CallMaker::CallMaker(std::shared_ptr<grpc::Channel> channel, int json_threads)
    : channel_(std::move(channel)),
      calls_(std::make_shared<OpenCalls>()),
      json_(std::make_shared<JsonPool>(json_threads)) {}

CallMaker::~CallMaker() {
  json_ = nullptr;
  calls_->CancelAndWait();
}

void CallMaker::Make(const MethodDescriptor& method, HttpRequest request, std::shared_ptr<Exchange> exchange,
                     CallOptions options) const {
  const auto answer = std::make_shared<CallAnswer>(method, exchange, options, json_);
  const std::size_t bytes = request.body.size();
  if (bytes <= kTinyRequestBytes) {
    answer->Start(channel_, *calls_, std::move(request));
    return;
  }
  // std::function requires a copyable task.
  auto shared = std::make_shared<HttpRequest>(std::move(request));
  if (!json_->Run(options.client, bytes, [answer, channel = channel_, calls = calls_, shared] {
        answer->Start(channel, *calls, std::move(*shared));
      })) {
    exchange->Answer(FailureAnswer(options.status_of(Busy()), std::move(options.fields)));
  }
}

HttpAnswer FailureAnswer(const grpc::Status& status,
                         std::vector<std::pair<std::string, std::string>> fields) {
  const bool is_stranger = status.error_code() == grpc::StatusCode::UNAUTHENTICATED;
  if (is_stranger) {
    fields.emplace_back("WWW-Authenticate", "Bearer");
  }
  return {.code = HttpCode(status.error_code()),
          .content_type = kJsonType,
          .body = StatusJson(status),
          .fields = std::move(fields),
          .closes = is_stranger};
}

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
