#include "server/storage/etcd/etcd_watch.h"

#include <grpcpp/support/client_callback.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/base/mutex.h"
#include "server/base/thread.h"
#include "server/storage/etcd/etcd.grpc.pb.h"
#include "server/storage/etcd/etcd_session.h"

namespace waystar::etcd {
namespace {

using etcdserverpb::WatchRequest;
using etcdserverpb::WatchResponse;
using TimePoint = std::chrono::steady_clock::time_point;

constexpr std::chrono::milliseconds kFirstPause{10};
constexpr std::chrono::milliseconds kLongestPause{640};

TimePoint After(absl::Duration duration) {
  return std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(duration);
}

}  // namespace

// Threads of the gRPC library record the events of the stream here; one thread of the watch handles them.
class Watch::Follower : public std::enable_shared_from_this<Watch::Follower> {
 public:
  Follower(Session& session, absl::string_view prefix, std::int64_t from_revision, WatchCallbacks callbacks,
           const WatchOptions& options)
      : session_(session),
        prefix_(prefix),
        callbacks_(std::move(callbacks)),
        options_(options),
        next_revision_(from_revision) {}

  void Start() {
    MutexLock lock(joining_);
    thread_ = StartThread("etcd-watch", [this] { Run(); });
  }

  void Stop() {
    {
      MutexLock lock(mutex_);
      is_stopping_ = true;
      changed_.NotifyAll();
    }
    MutexLock lock(joining_);
    if (thread_.joinable()) {
      thread_.join();
    }
  }

 private:
  class Stream;

  enum class End : std::uint8_t { kStopped, kCut, kCompacted };

  void Run() {
    std::chrono::milliseconds pause = kFirstPause;
    while (true) {
      Member* const member = WaitForMember();
      if (member == nullptr) {
        return;
      }
      absl::Status status;
      const std::int64_t before = next_revision_;
      has_heard_ = false;
      const End end = Follow(*member, status);
      if (end != End::kCut) {
        return;
      }
      session_.Blame(*member);
      if (callbacks_.on_cut) {
        callbacks_.on_cut(status);
      }
      pause = has_heard_ || next_revision_ > before ? kFirstPause : std::min(pause * 2, kLongestPause);
      if (IsStoppedWithin(pause)) {
        return;
      }
    }
  }

  // Waits for a connected member, and returns it; null if the watch is stopping.
  Member* WaitForMember() {
    std::chrono::milliseconds pause = kFirstPause;
    while (true) {
      if (Member* const member = session_.Pick(); member != nullptr) {
        return IsStoppedWithin(std::chrono::milliseconds(0)) ? nullptr : member;
      }
      if (IsStoppedWithin(pause)) {
        return nullptr;
      }
      pause = std::min(pause * 2, kLongestPause);
    }
  }

  bool IsStoppedWithin(std::chrono::milliseconds pause) {
    const TimePoint end = std::chrono::steady_clock::now() + pause;
    MutexLock lock(mutex_);
    while (!is_stopping_ && std::chrono::steady_clock::now() < end) {
      changed_.WaitUntil(mutex_, end);
    }
    return is_stopping_;
  }

  // Requests a token and returns the answer; nullopt if the watch is stopping.
  std::optional<absl::StatusOr<std::string>> WaitForToken() {
    {
      MutexLock lock(mutex_);
      token_.reset();
    }
    session_.WithToken([self = shared_from_this()](absl::StatusOr<std::string> token) {
      MutexLock lock(self->mutex_);
      self->token_ = std::move(token);
      self->changed_.NotifyAll();
    });
    MutexLock lock(mutex_);
    // Waits even when stopping: the request ends soon, and must not outlive the session.
    while (!token_.has_value()) {
      changed_.Wait(mutex_);
    }
    return is_stopping_ ? std::nullopt : token_;
  }

  End Follow(Member& member, absl::Status& status);
  // Returns true if the member has been behind others for longer than `quiet_timeout`.
  bool IsBehind() {
    const TimePoint now = std::chrono::steady_clock::now();
    if (std::max(told_revision_, next_revision_ - 1) >= awaited_revision_) {
      awaited_revision_ = session_.latest_revision();
      await_until_ = now + absl::ToChronoNanoseconds(options_.quiet_timeout);
    }
    return now > await_until_;
  }
  // Handles a message. Returns how the stream must end, if it must.
  std::optional<End> Take(WatchResponse& message, absl::Status& status);
  // Delivers the gathered events of one revision.
  void Deliver() {
    if (gathered_.empty()) {
      return;
    }
    const std::int64_t revision = gathered_.front().mod_revision;
    next_revision_ = revision + 1;
    if (callbacks_.on_events) {
      callbacks_.on_events(revision, std::move(gathered_));
    }
    gathered_.clear();
  }

  Session& session_;
  const std::string prefix_;
  const WatchCallbacks callbacks_;
  const WatchOptions options_;

  // Used by the thread only. Next revision to deliver; advanced by events only, because progress answers may
  // be too high.
  std::int64_t next_revision_;
  // Events of the newest revision, of which more may follow.
  std::vector<WatchEvent> gathered_;
  // Revision that the stream's member has reported, revision of other members that it must reach, and the
  // deadline for that.
  std::int64_t told_revision_ = 0;
  std::int64_t awaited_revision_ = 0;
  TimePoint await_until_;
  // True while a progress request is unanswered; and the last progress answer, 0 if there is none or events
  // up to it came later.
  bool is_asked_ = false;
  std::int64_t progress_ = 0;
  // True if anything arrived on the stream.
  bool has_heard_ = false;

  Mutex mutex_;
  CondVar changed_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<absl::StatusOr<std::string>> token_ ABSL_GUARDED_BY(mutex_);
  // State of the current stream.
  bool has_message_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_written_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_broken_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<grpc::Status> end_ ABSL_GUARDED_BY(mutex_);

  Mutex joining_;
  std::thread thread_ ABSL_GUARDED_BY(joining_);
};

// Stream to one member. It reads the next message only after the thread has handled the previous one, so a
// slow callback leaves the backlog in etcd.
class Watch::Follower::Stream final : public grpc::ClientBidiReactor<WatchRequest, WatchResponse> {
 public:
  Stream(Follower& follower, Member& member, const std::string& token) : follower_(follower) {
    Session::Prepare(context_, token);
    etcdserverpb::WatchCreateRequest& create = *request_.mutable_create_request();
    create.set_key(follower.prefix_);
    create.set_range_end(EndOfPrefix(follower.prefix_));
    create.set_start_revision(follower.next_revision_);
    create.set_progress_notify(true);
    create.set_fragment(true);
    member.watch.async()->Watch(&context_, this);
    // Reads and writes are started by the thread of the watch.
    AddHold();
    StartWrite(&request_);
    StartRead(&response_);
    StartCall();
  }

  WatchResponse& message() { return response_; }
  void ReadNext() { StartRead(&response_); }
  void AskForProgress() {
    request_.mutable_progress_request();
    StartWrite(&request_);
  }

  // Cancels the stream and waits until gRPC is done with it.
  grpc::Status Finish() {
    context_.TryCancel();
    RemoveHold();
    MutexLock lock(follower_.mutex_);
    while (!follower_.end_.has_value()) {
      follower_.changed_.Wait(follower_.mutex_);
    }
    return *follower_.end_;
  }

  void OnReadDone(bool ok) override {
    MutexLock lock(follower_.mutex_);
    (ok ? follower_.has_message_ : follower_.is_broken_) = true;
    follower_.changed_.NotifyAll();
  }

  void OnWriteDone(bool ok) override {
    MutexLock lock(follower_.mutex_);
    (ok ? follower_.has_written_ : follower_.is_broken_) = true;
    follower_.changed_.NotifyAll();
  }

  void OnDone(const grpc::Status& status) override {
    MutexLock lock(follower_.mutex_);
    follower_.end_ = status;
    follower_.changed_.NotifyAll();
  }

 private:
  Follower& follower_;
  grpc::ClientContext context_;
  WatchRequest request_;
  WatchResponse response_;
};

Watch::Follower::End Watch::Follower::Follow(Member& member, absl::Status& status) {
  std::string token;
  if (session_.NeedsToken()) {
    auto result = WaitForToken();
    if (!result.has_value()) {
      return End::kStopped;
    }
    if (!result->ok()) {
      status = result->status();
      return End::kCut;
    }
    token = **std::move(result);
  }
  {
    MutexLock lock(mutex_);
    has_message_ = false;
    has_written_ = false;
    is_broken_ = false;
    end_.reset();
  }
  gathered_.clear();
  told_revision_ = 0;
  awaited_revision_ = 0;
  is_asked_ = false;
  progress_ = 0;
  Stream stream(*this, member, token);
  std::optional<End> end;
  const absl::Duration patience = options_.quiet_timeout / 2;
  TimePoint ask_at = After(std::min(options_.progress_interval, patience));
  // Without a message, progress is requested once more after half of the timeout: etcd may leave one request
  // unanswered.
  TimePoint ask_again_at = After(patience);
  TimePoint give_up_at = After(options_.quiet_timeout);
  bool has_asked_again = false;
  while (!end.has_value()) {
    bool has_message = false;
    bool may_write = false;
    {
      MutexLock lock(mutex_);
      const TimePoint wake_at = !is_asked_ ? ask_at : has_asked_again ? give_up_at : ask_again_at;
      while (!is_stopping_ && !has_message_ && !is_broken_ && std::chrono::steady_clock::now() < wake_at) {
        changed_.WaitUntil(mutex_, wake_at);
      }
      has_message = std::exchange(has_message_, false);
      may_write = has_written_;
      if (is_stopping_) {
        end = End::kStopped;
      } else if (is_broken_ && !has_message) {
        end = End::kCut;
      }
    }
    if (end.has_value()) {
      break;
    }
    if (has_message) {
      has_heard_ = true;
      end = Take(stream.message(), status);
      stream.ReadNext();
      ask_again_at = After(patience);
      give_up_at = After(options_.quiet_timeout);
      has_asked_again = false;
      if (!end.has_value() && IsBehind()) {
        status = MakeFailure(Failure::kUnreachable, "the member of etcd is behind the others");
        end = End::kCut;
      }
      if (is_asked_ || std::chrono::steady_clock::now() < ask_at) {
        continue;
      }
    } else if (has_asked_again) {
      status = MakeFailure(Failure::kUnreachable, "etcd is quiet, though asked for a sign of life");
      end = End::kCut;
      continue;
    }
    has_asked_again = is_asked_;
    is_asked_ = true;
    ask_at = After(std::min(options_.progress_interval, patience));
    if (may_write) {
      {
        MutexLock lock(mutex_);
        has_written_ = false;
      }
      stream.AskForProgress();
    }
  }
  const grpc::Status ended = stream.Finish();
  if (*end == End::kCut) {
    if (status.ok()) {
      status = FailureOfRead(ended);
    }
    if (FailureOf(status) == Failure::kDenied) {
      session_.DropToken(token);
    }
  }
  return *end;
}

std::optional<Watch::Follower::End> Watch::Follower::Take(WatchResponse& message, absl::Status& status) {
  if (message.canceled() && message.compact_revision() > 0) {
    if (callbacks_.on_compacted) {
      callbacks_.on_compacted(message.compact_revision());
    }
    return End::kCompacted;
  }
  if (message.canceled()) {
    // Usually a rejected token; etcd gives no other sign of it.
    status =
        MakeFailure(Failure::kDenied, absl::StrCat("etcd cancelled the watch: ", message.cancel_reason()));
    return End::kCut;
  }
  for (etcdserverpb::Event& event : *message.mutable_events()) {
    etcdserverpb::KeyValue& entry = *event.mutable_kv();
    if (!gathered_.empty() && gathered_.front().mod_revision != entry.mod_revision()) {
      Deliver();
    }
    if (entry.mod_revision() < next_revision_) {
      continue;
    }
    if (entry.mod_revision() <= progress_) {
      progress_ = 0;
    }
    gathered_.push_back({.is_delete = event.type() == etcdserverpb::Event::DELETE,
                         .key = std::move(*entry.mutable_key()),
                         .value = std::move(*entry.mutable_value()),
                         .mod_revision = entry.mod_revision()});
  }
  if (!message.fragment()) {
    Deliver();
  }
  const std::int64_t told = message.header().revision();
  told_revision_ = std::max(told_revision_, told);
  const bool is_progress = message.events().empty() && !message.created();
  if (is_progress) {
    is_asked_ = false;
    if (progress_ > 0 && callbacks_.on_progress) {
      callbacks_.on_progress(progress_);
    }
    progress_ = told >= session_.latest_revision() ? told : 0;
  }
  return std::nullopt;
}

Watch::Watch(Client& client, absl::string_view prefix, std::int64_t from_revision, WatchCallbacks callbacks,
             const WatchOptions& options)
    : follower_(std::make_shared<Follower>(*client.session_, prefix, from_revision, std::move(callbacks),
                                           options)) {
  assert(from_revision > 0);
  follower_->Start();
}

Watch::~Watch() { Stop(); }

void Watch::Stop() { follower_->Stop(); }

}  // namespace waystar::etcd
