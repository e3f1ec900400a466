#include "server/service/auth/access_control.h"

#include "absl/strings/match.h"
#include "server/runtime/logging.h"

namespace waystar::rpc {
namespace {

constexpr char kMetadataKey[] = "authorization";
constexpr absl::string_view kScheme = "Bearer ";

absl::Status BadToken(absl::string_view message) { return MakeError(ErrorReason::kBadToken, "", message); }

}  // namespace

void AccessControl::Set(std::shared_ptr<const TokenList> tokens) {
  {
    MutexLock lock(mutex_);
    // The old list is destroyed after the lock is released.
    tokens_.swap(tokens);
  }
  is_asking_.store(true, std::memory_order_release);
}

void AccessControl::SetCloser(Closer closer) {
  MutexLock lock(mutex_);
  closer_ = std::move(closer);
}

absl::StatusOr<Caller> AccessControl::LookAt(const CallHead& head) const {
  if (!is_asking()) {
    return Caller::Anyone();
  }
  return head.IsRepeated(kMetadataKey) ? BadToken("a call has one \"authorization\"")
                                       : FindCaller(head.Metadata(kMetadataKey));
}

absl::StatusOr<Caller> AccessControl::IdentifyByToken(const CallHead& head) const {
  return Note(LookAt(head), head.Peer());
}

absl::StatusOr<Caller> AccessControl::Identify(absl::string_view authorization,
                                               const std::string& peer) const {
  if (!is_asking()) {
    return Caller::Anyone();
  }
  return Note(FindCaller(authorization), peer);
}

absl::StatusOr<Caller> AccessControl::Note(absl::StatusOr<Caller> caller, const std::string& peer) const {
  if (caller.ok()) {
    failed_tokens_.NoteAccepted(peer);
    return caller;
  }
  refused_.fetch_add(1, std::memory_order_relaxed);
  CountAgainst(peer, "token_refused", ErrorReasonOf(caller.status()));
  return caller;
}

void AccessControl::NoteUnfinished(const std::string& peer) const {
  CountAgainst(peer, "call_not_finished", "");
}

void AccessControl::CountAgainst(const std::string& peer, absl::string_view event,
                                 absl::string_view reason) const {
  const FailedTokens::Verdict verdict = failed_tokens_.Count(peer);
  if (verdict.logged.has_value()) {
    runtime::Log(runtime::LogLevel::kWarning, event,
                 {{"reason", reason},
                  {"peer", peer},
                  {"failures", verdict.logged->failures},
                  {"left_out", verdict.logged->left_out}});
  }
  if (verdict.closes_connection) {
    Closer closer;
    {
      MutexLock lock(mutex_);
      closer = closer_;
    }
    if (closer) {
      closer(peer);
    }
  }
}

absl::StatusOr<Caller> AccessControl::FindCaller(absl::string_view authorization) const {
  if (authorization.empty()) {
    return MakeError(ErrorReason::kMissingToken, "",
                     "this server asks for a token: the metadata \"authorization: Bearer TOKEN\"");
  }
  if (!absl::StartsWithIgnoreCase(authorization, kScheme)) {
    return BadToken("\"authorization\" should be \"Bearer TOKEN\"");
  }
  return FindToken(authorization.substr(kScheme.size()));
}

absl::StatusOr<Caller> AccessControl::Renew(const Caller& caller) const {
  if (!is_asking_.load(std::memory_order_acquire)) {
    return caller;
  }
  if (caller.is_anyone()) {
    return MakeError(ErrorReason::kMissingToken, "", "this server now requires a token");
  }
  return Find(caller.token()->hash);
}

absl::StatusOr<Caller> AccessControl::Find(const TokenHash& hash) const {
  std::shared_ptr<const Token> token;
  {
    MutexLock lock(mutex_);
    token = tokens_->Find(hash);
  }
  if (token == nullptr) {
    return BadToken("this token is not known, or no longer");
  }
  return Caller(std::move(token));
}

void AccessControl::Collect(runtime::MetricSink& sink) const {
  sink.AddCounter("waystar_tokens_refused_total", "Calls that were refused for want of a right token.",
                  refused_);
}

}  // namespace waystar::rpc
