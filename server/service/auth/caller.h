// Caller of an RPC and its permissions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/service/auth/token.h"

namespace waystar::rpc {

// Cheap-to-copy value that identifies a caller. It keeps the grants of the token as of the call; see
// LastingCaller for calls that may outlive them.
//
// Thread safety: that of a value.
class Caller {
 public:
  // Returns the caller on a server that requires no tokens, who may do everything.
  static Caller Anyone() { return Caller(nullptr); }
  // A null token means anyone.
  explicit Caller(std::shared_ptr<const Token> token) : token_(std::move(token)) {}

  bool is_anyone() const { return token_ == nullptr; }
  // Returns its token's name, bounded as Token says; empty for anyone. It lives as long as this.
  absl::string_view name() const { return is_anyone() ? absl::string_view() : token_->name; }
  // Returns an id that is the same for the same name, whatever the token; 0 for anyone.
  std::uint64_t id() const { return is_anyone() ? 0 : token_->id; }

  bool May(Permission permission, absl::string_view map) const {
    return is_anyone() || token_->May(permission, map);
  }
  bool MayRead(absl::string_view map) const { return May(Permission::kRead, map); }

  // Returns PERMISSION_DENIED / NOT_PERMITTED if May returns false, with the same message whether the map
  // exists or not. `field` is the request's field that names the map.
  absl::Status Check(Permission permission, absl::string_view map, absl::string_view field) const {
    return May(permission, map) ? absl::OkStatus() : Denied(permission, map, field);
  }
  // Checks the permission for a map that is not known yet: returns OK if it is granted for any map.
  absl::Status CheckSomewhere(Permission permission) const;
  // Checks the permission for the server as a whole: the token must have it on "*".
  absl::Status CheckEverywhere(Permission permission) const;

  // Returns the caller's token, or null for anyone.
  const Token* token() const { return token_.get(); }

 private:
  absl::Status Denied(Permission permission, absl::string_view map, absl::string_view field) const;

  std::shared_ptr<const Token> token_;
};

}  // namespace waystar::rpc
