// Identification of callers by their tokens.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "grpcpp/server_context.h"
#include "server/base/mutex.h"
#include "server/runtime/metric_sink.h"
#include "server/service/auth/caller.h"
#include "server/service/auth/failed_tokens.h"
#include "server/service/auth/token_list.h"

namespace waystar::rpc {

// Identifies callers. It requires no tokens until it is given a list. A call shows its token in the metadata
// "authorization", as "Bearer TOKEN" (RFC 6750, 2012).
//
// Thread safety: any.
class AccessControl final : public runtime::MetricSource {
 public:
  // Closes the connection of a peer, as the RPC library names it.
  using Closer = std::function<void(absl::string_view peer)>;

  // Has connections closed that show wrong tokens again and again: see FailedTokens.
  void SetCloser(Closer closer);

  // Requires every later call to show one of these tokens.
  void Set(std::shared_ptr<const TokenList> tokens);

  // Returns UNAUTHENTICATED / MISSING_TOKEN without a token, or BAD_TOKEN with one that is unknown or
  // malformed, which FailedTokens has logged or counted. Costs a branch if no tokens are required, else the
  // hash of the token.
  absl::StatusOr<Caller> Identify(const grpc::CallbackServerContext& context) const {
    if (!is_asking()) {
      return Caller::Anyone();
    }
    return IdentifyByToken(context);
  }

  // The same for a call that is looked at before its request is here, and identified again then: nothing is
  // logged or counted.
  absl::StatusOr<Caller> LookAt(const grpc::CallbackServerContext& context) const;

  // The same as Identify for what a request over HTTP has in its header "Authorization"; empty if it has
  // none. `peer` is as PeerOf names it.
  absl::StatusOr<Caller> Identify(absl::string_view authorization, const std::string& peer) const;

  // Notes that a call of that peer was begun and not gone on with. Honest clients have next to none, so the
  // peer's connection is closed as one with wrong tokens is.
  void NoteUnfinished(const std::string& peer) const;

  // Returns whether a right token was shown from the network of that peer.
  bool KnowsNetworkOf(absl::string_view peer) const { return failed_tokens_.KnowsNetworkOf(peer); }

  // Returns whether that client over HTTP showed so many wrong tokens that it is turned out: see
  // FailedTokens.
  bool IsTurnedOut(absl::string_view peer) const { return failed_tokens_.IsTurnedOut(peer); }

  // Returns whether callers must show tokens.
  bool is_asking() const { return is_asking_.load(std::memory_order_acquire); }

  // Returns who has that token. Returns the errors of Identify. REQUIRES: Set has been called.
  absl::StatusOr<Caller> FindToken(absl::string_view token) const { return Find(HashToken(token)); }

  // Returns the caller with what its token allows now, or the errors of Identify if it is not accepted any
  // more.
  absl::StatusOr<Caller> Renew(const Caller& caller) const;

  void Collect(runtime::MetricSink& sink) const override;

 private:
  absl::StatusOr<Caller> IdentifyByToken(const grpc::CallbackServerContext& context) const;
  // The same, without what follows from it.
  absl::StatusOr<Caller> FindCaller(absl::string_view authorization) const;
  // Counts and logs a call that was refused or ended for what its client did, and closes its connection if
  // there are too many.
  void CountAgainst(const std::string& peer, absl::string_view event, absl::string_view reason) const;
  // Counts and logs what a caller has shown.
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

}  // namespace waystar::rpc
