#include "server/service/transport/http/call_maker.h"

#include <optional>

#include "absl/random/random.h"
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
// In this time a message is usually sent.
constexpr absl::Duration kSendingDelay = absl::Milliseconds(10);

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

absl::Status NoSuchStream() {
  return MakeError(ErrorReason::kStreamNotFound, kStreamHeader, "there is no such stream, or it has ended");
}

// Returns the message in the body, which is released. Its bytes are counted as long as the gRPC library holds
// them.
absl::StatusOr<grpc::ByteBuffer> MessageIn(HttpRequest request, const MethodDescriptor& method) {
  WAYSTAR_ASSIGN_OR_RETURN(std::string wire, JsonToWire(*method.input_type(), request.body));
  BodyShare share = std::move(request.body_share);
  if (!share.GrowTo(request.body.size() + wire.size())) {
    return TooMuchToSend();
  }
  request = HttpRequest();
  share.ShrinkTo(wire.size());
  return BytesOf(std::move(wire), std::move(share));
}

// One call, from its request to the end of its answer. Owned by the gRPC call and by the exchange.
class CallAnswer : public std::enable_shared_from_this<CallAnswer> {
 public:
  CallAnswer(const MethodDescriptor& method, std::shared_ptr<Exchange> exchange, CallOptions options,
             std::weak_ptr<JsonPool> json, std::shared_ptr<OpenStreams> streams)
      : method_(method),
        exchange_(std::move(exchange)),
        options_(std::move(options)),
        json_(std::move(json)),
        streams_(std::move(streams)) {}

  void Start(const std::shared_ptr<grpc::Channel>& channel, OpenCalls& calls, HttpRequest request) {
    absl::StatusOr<grpc::ByteBuffer> message = grpc::ByteBuffer();
    const bool has_message = !request.body.empty() || !method_.client_streaming();
    if (has_message) {
      message = MessageIn(std::move(request), method_);
    }
    if (!message.ok()) {
      exchange_->Answer(FailureAnswer(options_.status_of(message.status()), options_.fields));
      return;
    }
    std::shared_ptr<void> place = calls.Enter();
    if (place == nullptr) {
      exchange_->Answer(FailureAnswer(options_.status_of(Stopping()), options_.fields));
      return;
    }
    const auto stream = std::make_shared<OpenStream>(method_, options_.client);
    if (method_.client_streaming()) {
      MutexLock lock(mutex_);
      stream_id_ = streams_->Add(stream);
      options_.fields.emplace_back(kStreamHeader, stream_id_);
      Begin();
    }
    const auto self = shared_from_this();
    const auto call = AnyCall::Start(
        channel, absl::StrCat("/", method_.service()->full_name(), "/", method_.name()), options_.prepare,
        {.on_message = [self](const std::shared_ptr<AnyCall>& from,
                              const grpc::ByteBuffer& answer) { self->OnMessage(from, answer); },
         .on_end = [self](const grpc::Status& status) { self->OnEnd(status); }},
        std::move(place));
    if (has_message) {
      call->Send(*message, /*is_last=*/!method_.client_streaming());
    }
    stream->Attach(call);
    calls.Add(call);
    // The callback keeps this object, and what `hold` counts, until the answer is sent.
    exchange_->NotifyWhenGone([self, call] {
      if (IsStream(self->method_)) {
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
    if (IsStream(method_) && exchange_->is_gone()) {
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
    if (!IsStream(method_)) {
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
    if (!stream_id_.empty()) {
      streams_->Remove(stream_id_);
    }
    const grpc::Status& status = failure_.has_value() ? *failure_ : ended;
    if (has_begun_ || (status.ok() && IsStream(method_))) {
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
    Begin();
    exchange_->Write(std::move(text));
  }

  void Begin() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!std::exchange(has_begun_, true)) {
      const bool is_lines = options_.form == StreamForm::kLines;
      exchange_->BeginStream({.content_type = is_lines ? "application/x-ndjson" : "text/event-stream",
                              .fields = options_.fields,
                              .heartbeat = is_lines ? "\n" : ":\n\n"});
    }
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
  CallOptions options_;
  const std::weak_ptr<JsonPool> json_;
  const std::shared_ptr<OpenStreams> streams_;
  Mutex mutex_;
  std::string stream_id_ ABSL_GUARDED_BY(mutex_);
  bool has_begun_ ABSL_GUARDED_BY(mutex_) = false;
  // The message of a call with one answer.
  std::string answer_ ABSL_GUARDED_BY(mutex_);
  std::optional<grpc::Status> failure_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

CallMaker::CallMaker(std::shared_ptr<grpc::Channel> channel, int json_threads)
    : channel_(std::move(channel)),
      calls_(std::make_shared<OpenCalls>()),
      streams_(std::make_shared<OpenStreams>()),
      json_(std::make_shared<JsonPool>(json_threads)) {}

CallMaker::~CallMaker() {
  json_ = nullptr;
  calls_->CancelAndWait();
}

void CallMaker::Make(const MethodDescriptor& method, HttpRequest request, std::shared_ptr<Exchange> exchange,
                     CallOptions options) const {
  const auto answer = std::make_shared<CallAnswer>(method, exchange, options, json_, streams_);
  Convert(std::move(request), exchange, options,
          [answer, channel = channel_, calls = calls_](HttpRequest body) {
            answer->Start(channel, *calls, std::move(body));
          });
}

void CallMaker::Send(std::string_view stream, std::uint64_t number, const MethodDescriptor& method,
                     HttpRequest request, std::shared_ptr<Exchange> exchange, CallOptions options) const {
  std::shared_ptr<OpenStream> open = streams_->Find(stream);
  if (open == nullptr || !open->IsOf(method, options.client)) {
    exchange->Answer(FailureAnswer(options.status_of(NoSuchStream()), std::move(options.fields)));
    return;
  }
  Convert(std::move(request), exchange, options,
          [open = std::move(open), number, &method, exchange, options](HttpRequest body) {
            const bool has_message = !body.body.empty();
            const auto message = has_message ? MessageIn(std::move(body), method) : grpc::ByteBuffer();
            const absl::Status status =
                message.ok() ? open->Send(number, has_message ? &*message : nullptr) : message.status();
            exchange->Answer(status.ok() ? HttpAnswer{.code = 204, .fields = options.fields}
                                         : FailureAnswer(options.status_of(status), options.fields));
          });
}

void CallMaker::Convert(HttpRequest request, const std::shared_ptr<Exchange>& exchange,
                        const CallOptions& options, std::function<void(HttpRequest request)> task) const {
  const std::size_t bytes = request.body.size();
  if (bytes <= kTinyRequestBytes) {
    task(std::move(request));
    return;
  }
  // std::function requires a copyable task.
  auto shared = std::make_shared<HttpRequest>(std::move(request));
  if (!json_->Run(options.client, bytes, [task = std::move(task), shared] { task(std::move(*shared)); })) {
    exchange->Answer(FailureAnswer(options.status_of(Busy()), options.fields));
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

AnyCall::AnyCall(Events events, std::shared_ptr<void> guard)
    : guard_(std::move(guard)), events_(std::move(events)) {}

std::shared_ptr<AnyCall> AnyCall::Start(const std::shared_ptr<grpc::Channel>& channel,
                                        const std::string& method,
                                        const std::function<void(grpc::ClientContext&)>& prepare,
                                        Events events, std::shared_ptr<void> guard) {
  std::shared_ptr<AnyCall> call(new AnyCall(std::move(events), std::move(guard)));
  call->self_ = call;
  prepare(call->context_);
  grpc::GenericStub(channel).PrepareBidiStreamingCall(&call->context_, method, grpc::StubOptions(),
                                                      call.get());
  // The hold allows reads to start outside of the callbacks.
  call->AddHold();
  call->StartRead(&call->response_);
  call->StartCall();
  return call;
}

AnyCall::Sending AnyCall::BeginSending(bool is_last) {
  MutexLock lock(mutex_);
  if (is_over_ || has_sent_all_) {
    return Sending::kOver;
  }
  if (is_sending_) {
    return Sending::kBusy;
  }
  is_sending_ = !is_last;
  has_sent_all_ = is_last;
  AddHold();
  return Sending::kBegun;
}

AnyCall::Sending AnyCall::Send(const grpc::ByteBuffer& request, bool is_last) {
  const Sending sending = BeginSending(is_last);
  if (sending == Sending::kBegun) {
    request_ = request;
    is_last ? StartWriteLast(&request_, grpc::WriteOptions()) : StartWrite(&request_);
    RemoveHold();
  }
  return sending;
}

AnyCall::Sending AnyCall::EndSending() {
  const Sending sending = BeginSending(/*is_last=*/true);
  if (sending == Sending::kBegun) {
    StartWritesDone();
    RemoveHold();
  }
  return sending;
}

void AnyCall::OnWriteDone(bool /*ok*/) {
  request_.Clear();
  MutexLock lock(mutex_);
  is_sending_ = false;
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

bool IsStream(const MethodDescriptor& method) {
  return method.client_streaming() || method.server_streaming();
}

void OpenStream::Attach(std::weak_ptr<AnyCall> call) {
  MutexLock lock(mutex_);
  call_ = std::move(call);
  is_attached_ = true;
}

absl::Status OpenStream::Send(std::uint64_t number, const grpc::ByteBuffer* message) {
  MutexLock lock(mutex_);
  if (number < next_) {
    return absl::OkStatus();
  }
  if (number > next_) {
    return MakeError(ErrorReason::kBadHeader, kMessageHeader,
                     absl::StrCat("the next message of the stream has number ", next_));
  }
  const std::shared_ptr<AnyCall> call = call_.lock();
  auto sending = is_attached_ ? AnyCall::Sending::kOver : AnyCall::Sending::kBusy;
  if (call != nullptr) {
    sending = message == nullptr ? call->EndSending() : call->Send(*message, /*is_last=*/false);
  }
  switch (sending) {
    case AnyCall::Sending::kBegun:
      ++next_;
      return absl::OkStatus();
    case AnyCall::Sending::kBusy:
      return Refusal(ErrorReason::kQueueFull, kSendingDelay, "the message before is not sent yet");
    case AnyCall::Sending::kOver:
      break;
  }
  return NoSuchStream();
}

std::string OpenStreams::Add(std::shared_ptr<OpenStream> stream) {
  absl::BitGen random;
  const auto half = [&] { return absl::Hex(absl::Uniform<std::uint64_t>(random), absl::kZeroPad16); };
  std::string id = absl::StrCat(half(), half());
  MutexLock lock(mutex_);
  streams_.emplace(id, std::move(stream));
  return id;
}

void OpenStreams::Remove(const std::string& id) {
  MutexLock lock(mutex_);
  streams_.erase(id);
}

std::shared_ptr<OpenStream> OpenStreams::Find(std::string_view id) const {
  MutexLock lock(mutex_);
  const auto stream = streams_.find(std::string(id));
  return stream == streams_.end() ? nullptr : stream->second;
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
