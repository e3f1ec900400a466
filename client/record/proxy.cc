#include "client/record/proxy.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/server_builder.h>

#include <mutex>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/record/listen_address.h"
#include "client/record/methods.h"
#include "google/protobuf/util/time_util.h"

namespace waystar::record {
namespace {

constexpr int kNoLimit = -1;

bool IsOfTheLibrary(absl::string_view key) {
  return absl::StartsWith(key, ":") || absl::StartsWith(key, "grpc-") || key == "user-agent" ||
         key == "content-type" || key == "te";
}

absl::string_view ToView(grpc::string_ref text) { return {text.data(), text.size()}; }

}  // namespace

// Two reactors that hand each message to the other: this one towards the client, and one towards the server.
// Owns itself, until both are done.
//
// The one towards the server needs holds as long as this one may start something there: one for writes, until
// there are no more, and one for reads. Each is given up once, by whoever finds that nothing more will come.
class Proxy::Call final : public grpc::ServerGenericBidiReactor {
 public:
  Call(Proxy& proxy, grpc::GenericCallbackServerContext& client)
      : proxy_(proxy),
        client_(client),
        method_(client.method().substr(1)),
        is_recorded_(IsRecorded(method_)) {
    if (is_recorded_) {
      number_ = proxy_.calls_.fetch_add(1, std::memory_order_relaxed) + 1;
      Record([this](v1::RecordedEvent& event) { event.set_method(method_); });
    }
    PrepareContext();
    grpc::GenericStub stub(proxy_.channel_);
    stub.PrepareBidiStreamingCall(&context_, client.method(), {}, &towards_server_);
    towards_server_.AddMultipleHolds(2);
    towards_server_.StartCall();
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      EndWrites(/*is_half_close=*/true);
      return;
    }
    if (is_recorded_) {
      Record([this](v1::RecordedEvent& event) { event.set_request(BytesOf(request_)); });
    }
    const std::lock_guard lock(mutex_);
    if (!has_ended_writes_) {
      towards_server_.StartWrite(&request_);
    }
  }

  void OnWriteDone(bool ok) override {
    if (ok) {
      towards_server_.StartRead(&response_);
    } else {
      context_.TryCancel();
      EndReads();
    }
  }

  void OnCancel() override { context_.TryCancel(); }

  void OnDone() override { Unref(); }

 private:
  class TowardsServer final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
   public:
    explicit TowardsServer(Call& call) : call_(call) {}

    void OnReadInitialMetadataDone(bool ok) override {
      if (ok) {
        for (const auto& [key, value] : call_.context_.GetServerInitialMetadata()) {
          if (!IsOfTheLibrary(ToView(key))) {
            call_.client_.AddInitialMetadata(std::string(ToView(key)), std::string(ToView(value)));
          }
        }
      }
      // Not before: what was added here goes to the client in front of the first message.
      StartRead(&call_.response_);
    }

    void OnWriteDone(bool ok) override {
      if (ok) {
        call_.StartRead(&call_.request_);
      } else {
        call_.EndWrites(/*is_half_close=*/false);
      }
    }

    void OnReadDone(bool ok) override {
      if (!ok) {
        call_.EndReads();
        return;
      }
      call_.RecordResponse();
      call_.StartWrite(&call_.response_);
    }

    void OnDone(const grpc::Status& status) override { call_.End(status); }

   private:
    Call& call_;
  };

  void PrepareContext() {
    bool has_token = false;
    for (const auto& [key, value] : client_.client_metadata()) {
      if (!IsOfTheLibrary(ToView(key))) {
        context_.AddMetadata(std::string(ToView(key)), std::string(ToView(value)));
        has_token = has_token || ToView(key) == "authorization";
      }
    }
    if (!has_token) {
      proxy_.connection_.Prepare(context_, absl::InfiniteDuration());
    }
    context_.set_deadline(client_.deadline());
  }

  // Nothing more is written to the server.
  void EndWrites(bool is_half_close) {
    const std::lock_guard lock(mutex_);
    if (std::exchange(has_ended_writes_, true)) {
      return;
    }
    if (is_half_close) {
      towards_server_.StartWritesDone();
    }
    towards_server_.RemoveHold();
  }

  // Nothing more is read from it, and so it has ended: what the client still writes goes nowhere.
  void EndReads() {
    EndWrites(/*is_half_close=*/false);
    towards_server_.RemoveHold();
  }

  void End(const grpc::Status& status) {
    for (const auto& [key, value] : context_.GetServerTrailingMetadata()) {
      if (!IsOfTheLibrary(ToView(key))) {
        client_.AddTrailingMetadata(std::string(ToView(key)), std::string(ToView(value)));
      }
    }
    if (is_recorded_) {
      Record([&status](v1::RecordedEvent& event) { FillEnd(status, *event.mutable_end()); });
    }
    Finish(status);
    Unref();
  }

  void RecordResponse() {
    if (is_recorded_ && HasRecordedAnswers(method_)) {
      Record([this](v1::RecordedEvent& event) { event.set_response(BytesOf(response_)); });
    }
  }

  template <typename Fill>
  void Record(Fill fill) {
    v1::RecordedEvent event;
    event.set_call(number_);
    *event.mutable_offset() = google::protobuf::util::TimeUtil::NanosecondsToDuration(
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - proxy_.begin_).count());
    fill(event);
    proxy_.recording_->Write(event);
  }

  void Unref() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      Proxy& proxy = proxy_;
      delete this;
      proxy.EndCall();
    }
  }

  Proxy& proxy_;
  // Until it is finished.
  grpc::CallbackServerContext& client_;
  const std::string method_;
  const bool is_recorded_;
  std::uint64_t number_ = 0;
  grpc::ClientContext context_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  std::mutex mutex_;
  bool has_ended_writes_ = false;
  std::atomic<int> references_ = 2;
  TowardsServer towards_server_{*this};
};

Proxy::Proxy(const client::Options& options, std::unique_ptr<RecordingWriter> recording)
    : connection_(options),
      channel_(connection_.status().ok() ? connection_.NewPlainChannel() : nullptr),
      recording_(std::move(recording)) {}

absl::StatusOr<std::unique_ptr<Proxy>> Proxy::Start(const std::string& listen, const client::Options& options,
                                                    std::unique_ptr<RecordingWriter> recording) {
  std::unique_ptr<Proxy> proxy(new Proxy(options, std::move(recording)));
  // It passes on whatever comes, changes too.
  if (absl::Status status = proxy->connection_.StatusForChanges(); !status.ok()) {
    return status;
  }
  const bool is_unix = absl::StartsWith(listen, "unix:");
  if (absl::Status status = CheckListenAddress(listen); !is_unix && !status.ok()) {
    return status;
  }
  grpc::ServerBuilder builder;
  builder.AddListeningPort(listen, grpc::InsecureServerCredentials(), &proxy->port_);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(kNoLimit);
  builder.RegisterCallbackGenericService(proxy.get());
  proxy->server_ = builder.BuildAndStart();
  if (proxy->server_ == nullptr) {
    return is_unix ? absl::UnavailableError(absl::StrCat("cannot listen on ", listen)) : CannotListen(listen);
  }
  return proxy;
}

Proxy::~Proxy() { static_cast<void>(Stop()); }

absl::Status Proxy::Stop() {
  if (server_ == nullptr) {
    return absl::OkStatus();
  }
  // Watches would never end by themselves.
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
  server_.reset();
  // What is left of a call towards the server holds the channel, which must not be let go by the library's
  // own threads.
  std::unique_lock lock(mutex_);
  calls_ended_.wait(lock, [this] { return calls_under_way_ == 0; });
  return recording_->Close();
}

void Proxy::EndCall() {
  const std::lock_guard lock(mutex_);
  if (--calls_under_way_ == 0) {
    calls_ended_.notify_all();
  }
}

grpc::ServerGenericBidiReactor* Proxy::CreateReactor(grpc::GenericCallbackServerContext* context) {
  {
    const std::lock_guard lock(mutex_);
    ++calls_under_way_;
  }
  return new Call(*this, *context);
}

}  // namespace waystar::record
