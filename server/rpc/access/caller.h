// Who makes a call, and what that allows.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/rpc/access/token.h"

namespace waystar::rpc {

// Cheap to copy. Keeps what its token allowed when the call was made: see LastingCaller for calls that may
// outlive that.
//
// Thread safety: as of a value.
class Caller {
 public:
  // Of a server that asks for no tokens: may do everything.
  static Caller Anyone() { return Caller(nullptr); }
  // Null is anyone.
  explicit Caller(std::shared_ptr<const Token> token) : token_(std::move(token)) {}

  bool is_anyone() const { return token_ == nullptr; }
  // Of its token, bounded as Token says; empty for anyone. Lives as long as this.
  absl::string_view name() const { return is_anyone() ? absl::string_view() : token_->name; }
  // The same for the same name, whatever the token; 0 for anyone.
  std::uint64_t id() const { return is_anyone() ? 0 : token_->id; }

  bool May(Permission permission, absl::string_view map) const {
    return is_anyone() || token_->May(permission, map);
  }
  bool MayRead(absl::string_view map) const { return May(Permission::kRead, map); }

  // PERMISSION_DENIED / NOT_PERMITTED, the same words whether there is such a map or not; `field` is that of
  // the request which names the map.
  absl::Status Check(Permission permission, absl::string_view map, absl::string_view field) const {
    return May(permission, map) ? absl::OkStatus() : Denied(permission, map, field);
  }
  // The same where it is not known yet what map the call is about: whether it could be any.
  absl::Status CheckSomewhere(Permission permission) const;
  // The same for what concerns the server as a whole: the token must have the permission on "*".
  absl::Status CheckEverywhere(Permission permission) const;

  // Null for anyone.
  const Token* token() const { return token_.get(); }

 private:
  absl::Status Denied(Permission permission, absl::string_view map, absl::string_view field) const;

  std::shared_ptr<const Token> token_;
};

}  // namespace waystar::rpc
