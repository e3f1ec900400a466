#include "server/rpc/access/tokens_file.h"

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/rpc/access/watched_file.h"

namespace waystar::rpc {
namespace {

constexpr std::size_t kMaxTokensFileBytes = std::size_t{16} << 20;

}  // namespace

absl::StatusOr<std::shared_ptr<const TokenList>> ReadTokensFile(const std::string& path) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path, kMaxTokensFileBytes));
  absl::StatusOr<TokenList> tokens = TokenList::Parse(text);
  if (!tokens.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", tokens.status().message()));
  }
  return std::make_shared<const TokenList>(*std::move(tokens));
}

}  // namespace waystar::rpc
