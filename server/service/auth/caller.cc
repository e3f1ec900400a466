#include "server/service/auth/caller.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"

namespace waystar::rpc {
namespace {

absl::string_view VerbOf(Permission permission) {
  switch (permission) {
    case Permission::kRead:
      return "read";
    case Permission::kUpdate:
      return "update";
    case Permission::kAdmin:
      break;
  }
  return "administer";
}

absl::Status NotPermitted(const Token& token, Permission permission, absl::string_view what,
                          absl::string_view field) {
  return MakeError(ErrorReason::kNotPermitted, field,
                   absl::StrCat("the token \"", token.name, "\" may not ", VerbOf(permission), " ", what));
}

}  // namespace

absl::Status Caller::Denied(Permission permission, absl::string_view map, absl::string_view field) const {
  // Maximum length of a map id; longer values are not ids.
  constexpr std::size_t kShownBytes = 63;
  return NotPermitted(*token_, permission,
                      absl::StrCat("the map \"", absl::CHexEscape(map.substr(0, kShownBytes)), "\""), field);
}

absl::Status Caller::CheckSomewhere(Permission permission) const {
  return is_anyone() || token_->MaySomewhere(permission) ? absl::OkStatus()
                                                         : NotPermitted(*token_, permission, "any map", "");
}

absl::Status Caller::CheckEverywhere(Permission permission) const {
  return is_anyone() || token_->MayEverywhere(permission)
             ? absl::OkStatus()
             : NotPermitted(*token_, permission, "the server", "");
}

}  // namespace waystar::rpc
