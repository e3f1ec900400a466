// State shared by the calls and watches of one client: connections to the members, and the auth token.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/storage/etcd/etcd.grpc.pb.h"
#include "server/storage/etcd/etcd_client.h"

namespace waystar::etcd {

// Translate the status of a call. An unclear failure is kUnreachable for a read, kUnknownOutcome for a write.
absl::Status FailureOfRead(const grpc::Status& status);
absl::Status FailureOfWrite(const grpc::Status& status);
// Returns true if another member may succeed.
bool IsOfMember(Failure failure);
// Returns true if a call was rejected because of its token, so that a new one may succeed.
bool IsOfToken(const grpc::Status& status);

// Connection to a member.
struct Member {
  explicit Member(std::shared_ptr<grpc::Channel> to)
      : channel(std::move(to)),
        kv(channel),
        watch(channel),
        lease(channel),
        maintenance(channel),
        auth(channel) {}

  const std::shared_ptr<grpc::Channel> channel;
  etcdserverpb::KV::Stub kv;
  etcdserverpb::Watch::Stub watch;
  etcdserverpb::Lease::Stub lease;
  etcdserverpb::Maintenance::Stub maintenance;
  etcdserverpb::Auth::Stub auth;
  // True while a call waits for the connection.
  std::atomic<bool> is_probed = false;
};

// Connections, token and running calls of a client. Thread safety: any method may be called from any thread.
class Session {
 public:
  static absl::StatusOr<std::unique_ptr<Session>> Open(const ClientOptions& options);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  // Cancels all calls, and waits for the last one to end.
  ~Session();

  const ClientOptions& options() const { return options_; }
  std::size_t member_count() const { return members_.size(); }

  // Returns a connected member: the same one until it is blamed; null if none is connected. Starts to connect
  // all others.
  Member* Pick();
  // Reports that a member has failed: other members are preferred from now on.
  void Blame(const Member& member);

  // Implements Client::CheckCertificates.
  absl::Status CheckCertificates() const;

  // Latest revision reported by any member. A member that stays behind it is cut off from the others.
  std::int64_t latest_revision() const { return latest_revision_.load(std::memory_order_relaxed); }
  void NoteRevision(std::int64_t revision) {
    std::int64_t latest = latest_revision();
    while (revision > latest && !latest_revision_.compare_exchange_weak(latest, revision)) {
    }
  }

  bool NeedsToken() const { return !user_.empty(); }
  using TokenDone = absl::AnyInvocable<void(absl::StatusOr<std::string>) &&>;
  // Calls `done` with the token, which is empty if etcd needs none. If there is none yet, one call requests
  // it for all waiters.
  void WithToken(TokenDone done);
  // Discards a token that was rejected.
  void DropToken(const std::string& token);

  // Adds the metadata of every call.
  static void Prepare(grpc::ClientContext& context, const std::string& token);

  // A running call that the session can cancel.
  class Running {
   public:
    virtual ~Running() = default;
    virtual void Cancel() = 0;
  };
  // Registers a call. Returns false if the session is closing.
  bool Enter(const std::shared_ptr<Running>& running);
  // Unregisters a call, which must not use the session afterwards.
  void Leave(const Running& running);
  bool IsClosing() const { return is_closing_.load(); }

 private:
  Session(const ClientOptions& options, std::string user, std::string password);

  // Starts a call that waits for the connection: gRPC connects only for calls.
  void Probe(Member& member);
  void HandOut(const absl::StatusOr<std::string>& token);

  const ClientOptions options_;
  const std::string user_;
  const std::string password_;
  std::vector<std::unique_ptr<Member>> members_;
  std::atomic<std::size_t> preferred_ = 0;
  std::atomic<bool> is_closing_ = false;
  std::atomic<std::int64_t> latest_revision_ = 0;

  Mutex mutex_;
  CondVar left_;
  absl::flat_hash_map<const Running*, std::shared_ptr<Running>> running_ ABSL_GUARDED_BY(mutex_);
  std::string token_ ABSL_GUARDED_BY(mutex_);
  std::vector<TokenDone> token_waiters_ ABSL_GUARDED_BY(mutex_);
};

// Context of a call that another thread may cancel.
//
// It holds the channel, which must not be destroyed on a thread of the gRPC library, as that would wait for
// itself. So the context is reset before the call leaves its session.
//
// Thread safety: any method may be called from any thread.
class RunningContext {
 public:
  // Returns the context; cancels it if Cancel was called before.
  grpc::ClientContext* Set(std::shared_ptr<grpc::ClientContext> context) {
    MutexLock lock(mutex_);
    context_ = std::move(context);
    if (is_cancelled_) {
      context_->TryCancel();
    }
    return context_.get();
  }

  void Reset() {
    // Destroyed after the lock is released.
    std::shared_ptr<grpc::ClientContext> last;
    MutexLock lock(mutex_);
    last.swap(context_);
  }

  void Cancel() {
    std::shared_ptr<grpc::ClientContext> context;
    {
      MutexLock lock(mutex_);
      is_cancelled_ = true;
      context = context_;
    }
    if (context != nullptr) {
      context->TryCancel();
    }
  }

 private:
  Mutex mutex_;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<grpc::ClientContext> context_ ABSL_GUARDED_BY(mutex_);
};

// Describes a unary method.
template <typename Request, typename Response>
struct CallKind {
  // Starts the call.
  void (*start)(Member& member, grpc::ClientContext* context, const Request* request, Response* response,
                std::function<void(grpc::Status)> done) = nullptr;
  // True if the call may be repeated after an unknown outcome.
  bool is_read = true;
  bool takes_token = true;
};

// A unary call that tries members until one answers or its deadline passes.
template <typename Request, typename Response>
class Call final : public Session::Running, public std::enable_shared_from_this<Call<Request, Response>> {
 public:
  using Done = absl::AnyInvocable<void(absl::StatusOr<Response>) &&>;

  static void Start(Session& session, CallKind<Request, Response> kind, Request request, Done done) {
    const auto call = std::make_shared<Call>(session, kind, std::move(request), std::move(done));
    if (session.Enter(call)) {
      call->Attempt();
    } else {
      std::move(call->done_)(Closed());
    }
  }

  Call(Session& session, CallKind<Request, Response> kind, Request request, Done done)
      : session_(session), kind_(kind), request_(std::move(request)), done_(std::move(done)) {}

  void Cancel() override { context_.Cancel(); }

 private:
  static constexpr absl::Duration kFirstPause = absl::Milliseconds(10);
  static constexpr absl::Duration kLongestPause = absl::Milliseconds(320);

  static absl::Status Closed() { return MakeFailure(Failure::kClosed, "the client of etcd was closed"); }

  void Attempt() {
    if (session_.IsClosing()) {
      Finish(Closed());
    } else if (kind_.takes_token && session_.NeedsToken() && token_.empty()) {
      session_.WithToken([self = this->shared_from_this()](absl::StatusOr<std::string> token) {
        if (token.ok()) {
          self->token_ = *std::move(token);
          self->Send();
        } else {
          self->Finish(std::move(token).status());
        }
      });
    } else {
      Send();
    }
  }

  void Send() {
    const absl::Time now = absl::Now();
    Member* const member = now < deadline_ ? session_.Pick() : nullptr;
    if (member == nullptr) {
      TryAgain(failure_.ok() ? MakeFailure(Failure::kUnreachable, "no member of etcd can be reached")
                             : failure_);
      return;
    }
    auto context = std::make_shared<grpc::ClientContext>();
    Session::Prepare(*context, token_);
    // A write that times out has an unknown outcome, so it gets the whole deadline.
    context->set_deadline(absl::ToChronoTime(
        kind_.is_read ? std::min(deadline_, now + session_.options().read_timeout) : deadline_));
    response_.Clear();
    // The call may end, and the session with it, before this returns.
    kind_.start(*member, context_.Set(std::move(context)), &request_, &response_,
                [self = this->shared_from_this(), member](const grpc::Status& status) {
                  self->OnDone(*member, status);
                });
  }

  void OnDone(Member& member, const grpc::Status& status) {
    context_.Reset();
    if (status.ok()) {
      Finish(std::move(response_));
      return;
    }
    if (kind_.takes_token && session_.NeedsToken() && IsOfToken(status) && renewals_ < 2) {
      ++renewals_;
      session_.DropToken(token_);
      token_.clear();
      Attempt();
      return;
    }
    const absl::Status failure = kind_.is_read ? FailureOfRead(status) : FailureOfWrite(status);
    if (IsOfMember(FailureOf(failure)) || FailureOf(failure) == Failure::kUnknownOutcome) {
      session_.Blame(member);
    }
    if (!IsOfMember(FailureOf(failure))) {
      Finish(failure);
    } else if (++attempts_ < session_.member_count()) {
      failure_ = failure;
      Attempt();
    } else {
      TryAgain(failure);
    }
  }

  // Retries after a pause.
  void TryAgain(const absl::Status& failure) {
    if (session_.IsClosing()) {
      Finish(Closed());
      return;
    }
    if (absl::Now() + pause_ >= deadline_) {
      Finish(failure);
      return;
    }
    failure_ = failure;
    alarm_ = std::make_unique<grpc::Alarm>();
    const absl::Time at = absl::Now() + pause_;
    pause_ = std::min(pause_ * 2, kLongestPause);
    alarm_->Set(absl::ToChronoTime(at), [self = this->shared_from_this()](bool) { self->Attempt(); });
  }

  void Finish(absl::StatusOr<Response> result) {
    // The alarm holds this call.
    alarm_.reset();
    std::move(done_)(std::move(result));
    session_.Leave(*this);
  }

  Session& session_;
  const CallKind<Request, Response> kind_;
  const Request request_;
  Done done_;
  const absl::Time deadline_ = absl::Now() + session_.options().call_timeout;
  // The members below are used by one step of the call at a time.
  Response response_;
  std::string token_;
  std::size_t attempts_ = 0;
  int renewals_ = 0;
  absl::Duration pause_ = kFirstPause;
  absl::Status failure_;
  std::unique_ptr<grpc::Alarm> alarm_;
  RunningContext context_;
};

}  // namespace waystar::etcd
