#include "server/service/transport/http/call_maker.h"

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/support/client_callback.h"
#include "grpcpp/support/slice.h"
#include "server/base/error.h"

namespace waystar::http {
namespace {

using google::protobuf::MethodDescriptor;

// Requests up to this size are converted by the thread that serves sockets, and answers up to this size by
// those of the gRPC library. That takes 10 to 40 us, at worst 200 us: often less than waking another thread.
constexpr std::size_t kTinyRequestBytes = 512;
constexpr std::size_t kTinyAnswerBytes = std::size_t{4} << 10;

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

absl::Status NoSuchStream() {
  return MakeError(ErrorReason::kStreamNotFound, kStreamHeader, "there is no such stream, or it has ended");
}

// Returns the message in the body, which is released. Its bytes are counted as long as the gRPC library holds
// them.
absl::StatusOr<grpc::ByteBuffer> MessageIn(HttpRequest request, const MethodDescriptor& method) {
  auto sent = std::make_unique<HttpRequest>();
  WAYSTAR_ASSIGN_OR_RETURN(sent->body, JsonToWire(*method.input_type(), request.body));
  sent->body_share = std::move(request.body_share);
  if (!sent->body_share.GrowTo(request.body.size() + sent->body.size())) {
    return TooMuchToSend();
  }
  request = HttpRequest();
  sent->body_share.ShrinkTo(sent->body.size());
  std::string& text = sent->body;
  const grpc::Slice slice(
      text.data(), text.size(), [](void* gone) { delete static_cast<HttpRequest*>(gone); }, sent.release());
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace

// One call, from its request to the end of its answer. Owned by the exchange until the answer is sent, and by
// what makes the call until the call ends.
//
// Thread safety: any method may be called from any thread. Messages come one at a time.
class CallMaker::Call : public std::enable_shared_from_this<Call> {
 public:
  Call(CallMaker& maker, std::string id, const MethodDescriptor& method, std::shared_ptr<Exchange> exchange,
       CallOptions options)
      : maker_(maker),
        id_(std::move(id)),
        method_(method),
        exchange_(std::move(exchange)),
        options_(std::move(options)) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual ~Call() = default;

  const std::string& id() const { return id_; }
  bool IsOf(const MethodDescriptor& method, std::uint64_t client) const {
    return &method_ == &method && options_.client == client;
  }

  // Call it once.
  virtual void Start(HttpRequest request) = 0;
  // See CallMaker::Send; without a message, it is the end of the messages.
  virtual absl::Status Send(std::uint64_t number, const grpc::ByteBuffer* message) = 0;
  // Makes the call end soon, if it has begun.
  virtual void Cancel() = 0;
  // Answers at the deadline, which the call itself knows as well.
  void OnLate() {
    Fail(options_.status_of(
        MakeError(ErrorReason::kDeadlineExceeded, "", "the deadline passed before the call had ended")));
    Cancel();
  }

 protected:
  // Converts a message of the answer, and calls TakeJson or Fail.
  void OnMessage(const grpc::ByteBuffer& message) {
    const std::size_t bytes = message.Length();
    if (bytes <= kTinyAnswerBytes) {
      Convert(message);
    } else if (!options_.hold(exchange_->waiting_bytes() + bytes)) {
      Fail(options_.status_of(TooMuchUnread()));
    } else if (!maker_.json_.Run(options_.client, bytes,
                                 [self = shared_from_this(), message] { self->Convert(message); })) {
      Fail(options_.status_of(Busy()));
    }
  }
  virtual void TakeJson(std::string json) = 0;
  // Ends the call, and answers with that status.
  virtual void Fail(const grpc::Status& status) = 0;

  void AnswerFailure(const grpc::Status& status) {
    exchange_->Answer(FailureAnswer(status, options_.fields));
  }
  void AnswerJson(std::string json) {
    exchange_->Answer({.content_type = kJsonType, .body = std::move(json), .fields = options_.fields});
  }

  CallMaker& maker_;
  const std::string id_;
  const MethodDescriptor& method_;
  const std::shared_ptr<Exchange> exchange_;
  CallOptions options_;

 private:
  void Convert(grpc::ByteBuffer message) {
    absl::StatusOr<std::string> json = JsonOf(message);
    if (!json.ok()) {
      Fail({grpc::StatusCode::INTERNAL, std::string(json.status().message())});
      return;
    }
    const std::size_t json_bytes = json->capacity();
    const bool may_hold = options_.hold(exchange_->waiting_bytes() + message.Length() + json_bytes);
    message.Clear();
    if (may_hold) {
      TakeJson(*std::move(json));
    } else {
      options_.hold(exchange_->waiting_bytes());
      Fail(options_.status_of(TooMuchUnread()));
    }
  }

  absl::StatusOr<std::string> JsonOf(const grpc::ByteBuffer& message) const {
    grpc::Slice slice;
    if (!message.DumpToSingleSlice(&slice).ok()) {
      return absl::InternalError("an answer cannot be read");
    }
    return WireToJson(*method_.output_type(), {reinterpret_cast<const char*>(slice.begin()), slice.size()});
  }
};

// A call with one answer, by CallOptions::call.
class CallMaker::DirectCall final : public Call {
 public:
  using Call::Call;

  void Start(HttpRequest request) override {
    absl::StatusOr<grpc::ByteBuffer> message = MessageIn(std::move(request), method_);
    if (!message.ok()) {
      AnswerFailure(options_.status_of(message.status()));
      return;
    }
    const auto self = std::static_pointer_cast<DirectCall>(shared_from_this());
    std::function<void()> cancel = options_.call(
        *message,
        [self](const grpc::Status& status, const grpc::ByteBuffer& answer) { self->OnDone(status, answer); });
    MutexLock lock(mutex_);
    if (!is_over_) {
      std::swap(cancel_, cancel);
    }
  }

  absl::Status Send(std::uint64_t /*number*/, const grpc::ByteBuffer* /*message*/) override {
    return NoSuchStream();
  }

  void Cancel() override {
    std::function<void()> cancel;
    {
      MutexLock lock(mutex_);
      cancel = cancel_;
    }
    if (cancel) {
      cancel();
    }
  }

 private:
  void OnDone(const grpc::Status& status, const grpc::ByteBuffer& answer) {
    std::function<void()> cancel;
    {
      MutexLock lock(mutex_);
      is_over_ = true;
      std::swap(cancel_, cancel);
    }
    if (status.ok()) {
      OnMessage(answer);
    } else {
      Fail(status);
    }
  }

  void TakeJson(std::string json) override {
    options_.hold(json.capacity());
    AnswerJson(std::move(json));
  }
  void Fail(const grpc::Status& status) override { AnswerFailure(status); }

  Mutex mutex_;
  std::function<void()> cancel_ ABSL_GUARDED_BY(mutex_);
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
};

// A call on the channel: a stream, or a method of the gRPC library. The library's callbacks come one at a
// time.
class CallMaker::ChannelCall final : public Call,
                                     private grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  using Call::Call;

  void Start(HttpRequest request) override {
    const bool takes_stream = method_.client_streaming();
    const bool has_message = !request.body.empty() || !takes_stream;
    if (has_message) {
      absl::StatusOr<grpc::ByteBuffer> message = MessageIn(std::move(request), method_);
      if (!message.ok()) {
        AnswerFailure(options_.status_of(message.status()));
        return;
      }
      request_ = *std::move(message);
    }
    if (takes_stream) {
      options_.fields.emplace_back(kStreamHeader, id_);
      MutexLock lock(mutex_);
      Begin();
    }
    options_.prepare(context_);
    self_ = std::static_pointer_cast<ChannelCall>(shared_from_this());
    grpc::GenericStub(maker_.channel_)
        .PrepareBidiStreamingCall(&context_,
                                  absl::StrCat("/", method_.service()->full_name(), "/", method_.name()),
                                  grpc::StubOptions(), this);
    // The hold allows reads to start outside of the callbacks.
    AddHold();
    StartRead(&response_);
    if (!takes_stream) {
      StartWriteLast(&request_, grpc::WriteOptions());
    } else if (has_message) {
      StartWrite(&request_);
    }
    StartCall();
    if (!has_message) {
      MutexLock lock(mutex_);
      is_sending_ = false;
    }
    if (IsStream(method_)) {
      exchange_->NotifyWhenGone([self = self_] { self->Cancel(); });
    }
  }

  absl::Status Send(std::uint64_t number, const grpc::ByteBuffer* message) override {
    {
      MutexLock lock(mutex_);
      if (is_over_) {
        return NoSuchStream();
      }
      if (number < next_) {
        return absl::OkStatus();
      }
      if (number > next_) {
        return MakeError(ErrorReason::kBadHeader, kMessageHeader,
                         absl::StrCat("the next message of the stream has number ", next_));
      }
      if (has_sent_all_) {
        return NoSuchStream();
      }
      if (is_sending_) {
        return Refusal(ErrorReason::kQueueFull, kSendingDelay, "the message before is not sent yet");
      }
      ++next_;
      is_sending_ = true;
      has_sent_all_ = message == nullptr;
      AddHold();
    }
    if (message == nullptr) {
      StartWritesDone();
    } else {
      request_ = *message;
      StartWrite(&request_);
    }
    RemoveHold();
    return absl::OkStatus();
  }

  void Cancel() override {
    context_.TryCancel();
    // Only a read notices the end.
    Next();
  }

 private:
  void OnWriteDone(bool /*ok*/) override {
    request_.Clear();
    MutexLock lock(mutex_);
    is_sending_ = false;
  }

  void OnReadDone(bool ok) override {
    grpc::ByteBuffer message;
    {
      MutexLock lock(mutex_);
      // The next read may start at once.
      message.Swap(&response_);
      is_reading_ = false;
      is_over_ = !ok;
    }
    if (ok) {
      OnMessage(message);
    } else {
      RemoveHold();
    }
  }

  // Another thread may be converting a message: a leaving client ends the call at any time.
  void OnDone(const grpc::Status& ended) override {
    const std::shared_ptr<ChannelCall> last = std::move(self_);
    MutexLock lock(mutex_);
    const grpc::Status& status = failure_.has_value() ? *failure_ : ended;
    if (has_begun_ || (status.ok() && IsStream(method_))) {
      const std::string json = StatusJson(status);
      Write(options_.form == StreamForm::kLines ? absl::StrCat("{\"error\":", json, "}\n")
                                                : absl::StrCat("event: end\ndata: ", json, "\n\n"));
      exchange_->Finish();
    } else if (status.ok()) {
      AnswerJson(std::move(answer_));
    } else {
      AnswerFailure(status);
    }
  }

  // Reads the next message, or the end. Does nothing if a read is in progress.
  void Next() {
    {
      MutexLock lock(mutex_);
      if (is_reading_ || is_over_) {
        return;
      }
      is_reading_ = true;
    }
    StartRead(&response_);
  }

  void TakeJson(std::string json) override {
    if (!IsStream(method_)) {
      options_.hold(json.capacity());
      {
        MutexLock lock(mutex_);
        answer_ = std::move(json);
      }
      Next();
      return;
    }
    if (exchange_->is_gone()) {
      // The client may have cancelled the call already. Cancel it again all the same: that starts the next
      // read, and only a read notices the end.
      Cancel();
      return;
    }
    {
      MutexLock lock(mutex_);
      Write(options_.form == StreamForm::kLines ? absl::StrCat("{\"result\":", json, "}\n")
                                                : absl::StrCat("data: ", json, "\n\n"));
    }
    json = std::string();
    options_.hold(exchange_->waiting_bytes());
    const auto self = std::static_pointer_cast<ChannelCall>(shared_from_this());
    exchange_->NotifyWhenRoom([self] {
      self->options_.hold(self->exchange_->waiting_bytes());
      self->Next();
    });
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

  void Fail(const grpc::Status& status) override {
    {
      MutexLock lock(mutex_);
      failure_ = status;
    }
    Cancel();
  }

  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  grpc::ClientContext context_;
  // Set until the call ends.
  std::shared_ptr<ChannelCall> self_;
  Mutex mutex_;
  bool is_reading_ ABSL_GUARDED_BY(mutex_) = true;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
  // Number of the next message for Send. None can be sent before the call has started.
  std::uint64_t next_ ABSL_GUARDED_BY(mutex_) = 1;
  bool is_sending_ ABSL_GUARDED_BY(mutex_) = true;
  bool has_sent_all_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_begun_ ABSL_GUARDED_BY(mutex_) = false;
  // The message of a call with one answer.
  std::string answer_ ABSL_GUARDED_BY(mutex_);
  std::optional<grpc::Status> failure_ ABSL_GUARDED_BY(mutex_);
};

CallMaker::~CallMaker() {
  Stop();
  Wait();
}

void CallMaker::Stop() {
  json_.Stop();
  std::vector<std::shared_ptr<Call>> open;
  {
    MutexLock lock(mutex_);
    for (const auto& [id, call] : calls_) {
      open.push_back(call.lock());
    }
  }
  for (std::shared_ptr<Call>& call : open) {
    if (call != nullptr) {
      call->Cancel();
      call = nullptr;
    }
  }
}

void CallMaker::Wait() {
  MutexLock lock(mutex_);
  while (!calls_.empty()) {
    is_less_.Wait(mutex_);
  }
}

void CallMaker::Make(const MethodDescriptor& method, HttpRequest request, std::shared_ptr<Exchange> exchange,
                     CallOptions options) {
  std::shared_ptr<Call> call;
  {
    MutexLock lock(mutex_);
    std::string id = absl::StrCat(absl::Hex(absl::Uniform<std::uint64_t>(random_), absl::kZeroPad16),
                                  absl::Hex(absl::Uniform<std::uint64_t>(random_), absl::kZeroPad16));
    const auto forget = [this](const Call* ended) {
      const std::string ended_id = ended->id();
      delete ended;
      MutexLock leaving(mutex_);
      calls_.erase(ended_id);
      is_less_.NotifyAll();
    };
    if (options.call) {
      call = std::shared_ptr<Call>(new DirectCall(*this, id, method, exchange, options), forget);
    } else {
      call = std::shared_ptr<Call>(new ChannelCall(*this, id, method, exchange, options), forget);
    }
    calls_.emplace(std::move(id), call);
  }
  Convert(std::move(request), exchange, options, [call](HttpRequest body) { call->Start(std::move(body)); });
  // The callback keeps the call, and what `hold` counts, until the answer is sent. A call that could not
  // begin must not be kept: its exchange answers as it goes.
  exchange->NotifyWhenLate(options.deadline, [call] { call->OnLate(); });
}

void CallMaker::Send(const std::string& stream, std::uint64_t number, const MethodDescriptor& method,
                     HttpRequest request, std::shared_ptr<Exchange> exchange, CallOptions options) {
  std::shared_ptr<Call> open;
  {
    MutexLock lock(mutex_);
    if (const auto found = calls_.find(stream); found != calls_.end()) {
      open = found->second.lock();
    }
  }
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
                        const CallOptions& options, std::function<void(HttpRequest request)> task) {
  const std::size_t bytes = request.body.size();
  if (bytes <= kTinyRequestBytes) {
    task(std::move(request));
    return;
  }
  // std::function requires a copyable task.
  auto shared = std::make_shared<HttpRequest>(std::move(request));
  if (!json_.Run(options.client, bytes, [task = std::move(task), shared] { task(std::move(*shared)); })) {
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

bool IsStream(const MethodDescriptor& method) {
  return method.client_streaming() || method.server_streaming();
}

}  // namespace waystar::http
