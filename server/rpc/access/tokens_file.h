// Where tokens come from.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/rpc/access/token_list.h"

namespace waystar::rpc {

// Reads a file of tokens, as TokenList::Parse says. An error names the file, and the line if that is to
// blame.
absl::StatusOr<std::shared_ptr<const TokenList>> ReadTokensFile(const std::string& path);

}  // namespace waystar::rpc
