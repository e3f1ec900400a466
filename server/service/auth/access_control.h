// Identification of callers by their tokens.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/mutex.h"
#include "server/runtime/metric_sink.h"
#include "server/service/auth/call_head.h"
#include "server/service/auth/caller.h"
#include "server/service/auth/failed_tokens.h"
#include "server/service/auth/token.h"

namespace waystar::rpc {

// Identifies callers by tokens. Tokens are not required until Set is called. A call presents its token in the
// metadata "authorization", as "Bearer TOKEN" (RFC 6750, 2012).
//
// Thread safety: any.
class AccessControl final : public runtime::MetricSource {
 public:
  // Closes the connection of a peer, named as by the RPC library.
  using Closer = std::function<void(absl::string_view peer)>;

  // Sets how to close connections that repeatedly present wrong tokens: see FailedTokens.
  void SetCloser(Closer closer);

  // Requires every later call to present one of these tokens.
  void Set(std::shared_ptr<const TokenList> tokens);

  // Returns UNAUTHENTICATED / MISSING_TOKEN, or BAD_TOKEN for an unknown or malformed token. FailedTokens
  // counts and logs both. Costs a branch if no tokens are required, else the hash of the token.
  absl::StatusOr<Caller> Identify(const CallHead& head) const {
    if (!is_asking()) {
      return Caller::Anyone();
    }
    return IdentifyByToken(head);
  }

  // Identifies a call whose request has not arrived yet, without logging or counting: it is identified again
  // later.
  absl::StatusOr<Caller> LookAt(const CallHead& head) const;

  // Identifies by the value of the HTTP header "Authorization", empty if there is none. `peer` is as named by
  // CallHead::Peer.
  absl::StatusOr<Caller> Identify(absl::string_view authorization, const std::string& peer) const;

  // Counts a call of the peer that was begun but not continued. Honest clients have almost none, so the
  // peer's connection is closed like one with wrong tokens.
  void NoteUnfinished(const std::string& peer) const;

  // Returns true if a valid token was presented from the network of that peer.
  bool KnowsNetworkOf(absl::string_view peer) const { return failed_tokens_.KnowsNetworkOf(peer); }

  // Returns true if that HTTP client presented too many wrong tokens and is rejected for now: see
  // FailedTokens.
  bool IsTurnedOut(absl::string_view peer) const { return failed_tokens_.IsTurnedOut(peer); }

  // Returns true if callers must present tokens.
  bool is_asking() const { return is_asking_.load(std::memory_order_acquire); }

  // Returns the holder of that token, or the errors of Identify. REQUIRES: Set has been called.
  absl::StatusOr<Caller> FindToken(absl::string_view token) const { return Find(HashToken(token)); }

  // Returns the caller with the current grants of its token, or the errors of Identify if the token is no
  // longer accepted.
  absl::StatusOr<Caller> Renew(const Caller& caller) const;

  void Collect(runtime::MetricSink& sink) const override;

 private:
  absl::StatusOr<Caller> IdentifyByToken(const CallHead& head) const;
  // Identifies a caller without counting or logging.
  absl::StatusOr<Caller> FindCaller(absl::string_view authorization) const;
  // Counts and logs a call that was rejected or ended because of its client, and closes its connection if
  // there are too many.
  void CountAgainst(const std::string& peer, absl::string_view event, absl::string_view reason) const;
  // Counts and logs the result of an identification.
  absl::StatusOr<Caller> Note(absl::StatusOr<Caller> caller, const std::string& peer) const;
  absl::StatusOr<Caller> Find(const TokenHash& hash) const;

  std::atomic<bool> is_asking_ = false;
  mutable FailedTokens failed_tokens_;
  mutable std::atomic<std::uint64_t> refused_ = 0;
  mutable Mutex mutex_;
  // Null until Set is called.
  std::shared_ptr<const TokenList> tokens_ ABSL_GUARDED_BY(mutex_);
  Closer closer_ ABSL_GUARDED_BY(mutex_);
};

// Caller of a call that may outlive its token, renewed when the tokens change. To miss no change, a call must
// arrange for Renew to be called after each change before it calls Identify. Thread safety: any, but Identify
// comes before Require and Get.
class LastingCaller {
 public:
  // Checks a precondition for continuing the call. Any thread may call it, one at a time.
  using Requirement = std::function<absl::Status(const Caller&)>;

  // `access` must outlive this.
  explicit LastingCaller(const AccessControl& access) : access_(access) {}

  // Identifies the caller. Returns the errors of AccessControl::Identify.
  absl::Status Identify(const CallHead& head) {
    MutexLock lock(mutex_);
    WAYSTAR_ASSIGN_OR_RETURN(Caller caller, access_.Identify(head));
    caller_ = std::move(caller);
    return absl::OkStatus();
  }

  // Checks the requirement now, and at each later Renew. REQUIRES: Identify has succeeded.
  absl::Status Require(Requirement requirement) {
    MutexLock lock(mutex_);
    requirement_ = std::move(requirement);
    return requirement_(*caller_);
  }

  // Looks its token up again. Returns the errors of AccessControl::Renew and of the requirement.
  absl::Status Renew() {
    MutexLock lock(mutex_);
    if (!caller_.has_value()) {
      return absl::OkStatus();
    }
    WAYSTAR_ASSIGN_OR_RETURN(Caller caller, access_.Renew(*caller_));
    caller_ = std::move(caller);
    return requirement_ ? requirement_(*caller_) : absl::OkStatus();
  }

  // REQUIRES: Identify has succeeded.
  Caller Get() {
    MutexLock lock(mutex_);
    return *caller_;
  }

 private:
  const AccessControl& access_;
  Mutex mutex_;
  std::optional<Caller> caller_ ABSL_GUARDED_BY(mutex_);
  Requirement requirement_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::rpc
