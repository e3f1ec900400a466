// A token, as the server knows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/rpc/access/permission.h"
#include "server/rpc/access/token_hash.h"

namespace waystar::rpc {

struct Grant {
  Permission permission = Permission::kRead;
  // Of ids of maps.
  std::string pattern;
};

struct Token {
  // Who has it: 1 to 63 of A-Z, a-z, 0-9, '_', '.' and '-'. Several tokens may have one name.
  std::string name;
  // The same for the same name, now and after a restart; never 0.
  std::uint64_t id = 0;
  TokenHash hash{};
  // At least one.
  std::vector<Grant> grants;

  bool May(Permission permission, absl::string_view map) const;
  // Whether there may be a map for which it has that permission.
  bool MaySomewhere(Permission permission) const;
  // Whether it has that permission for every map.
  bool MayEverywhere(Permission permission) const;
};

}  // namespace waystar::rpc
