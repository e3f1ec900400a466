#include "server/rpc/access/token.h"

#include <algorithm>

namespace waystar::rpc {

bool Token::May(Permission permission, absl::string_view map) const {
  return std::any_of(grants.begin(), grants.end(), [&](const Grant& grant) {
    return grant.permission >= permission && MatchesPattern(grant.pattern, map);
  });
}

bool Token::MaySomewhere(Permission permission) const {
  return std::any_of(grants.begin(), grants.end(),
                     [&](const Grant& grant) { return grant.permission >= permission; });
}

bool Token::MayEverywhere(Permission permission) const {
  return std::any_of(grants.begin(), grants.end(), [&](const Grant& grant) {
    return grant.permission >= permission && grant.pattern == kEveryMap;
  });
}

}  // namespace waystar::rpc
