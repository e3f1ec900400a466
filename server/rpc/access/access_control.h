// Finds out who makes a call.
#pragma once

#include <atomic>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "grpcpp/server_context.h"
#include "server/base/mutex.h"
#include "server/rpc/access/caller.h"
#include "server/rpc/access/token_list.h"

namespace waystar::rpc {

// Asks for no tokens until it is given some. A call shows its token in the metadata "authorization", as
// "Bearer TOKEN" (RFC 6750, 2012).
//
// Thread safety: any.
class AccessControl {
 public:
  // From here on every call must show one of these.
  void Set(std::shared_ptr<const TokenList> tokens);

  // UNAUTHENTICATED / MISSING_TOKEN without a token, BAD_TOKEN with one that is unknown or malformed. Costs a
  // branch if no tokens are asked for; else the hash of the token.
  absl::StatusOr<Caller> Identify(const grpc::CallbackServerContext& context) const {
    if (!is_asking_.load(std::memory_order_acquire)) {
      return Caller::Anyone();
    }
    return IdentifyByToken(context);
  }

  // Who has that token. Errors of Identify. REQUIRES: Set has been called.
  absl::StatusOr<Caller> FindToken(absl::string_view token) const { return Find(HashToken(token)); }

  // The same caller with what its token allows now. UNAUTHENTICATED / BAD_TOKEN if it is no longer known.
  absl::StatusOr<Caller> Renew(const Caller& caller) const;

 private:
  absl::StatusOr<Caller> IdentifyByToken(const grpc::CallbackServerContext& context) const;
  absl::StatusOr<Caller> Find(const TokenHash& hash) const;

  std::atomic<bool> is_asking_ = false;
  mutable Mutex mutex_;
  // Null until Set.
  std::shared_ptr<const TokenList> tokens_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::rpc
