#include "server/rpc/access/permission.h"

#include <cstddef>

namespace waystar::rpc {

bool MatchesPattern(absl::string_view pattern, absl::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  // Behind the last star that was passed, and the text that it does not stand for yet.
  std::size_t after_star = absl::string_view::npos;
  std::size_t retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      retry = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (after_star != absl::string_view::npos) {
      p = after_star;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') {
    ++p;
  }
  return p == pattern.size();
}

}  // namespace waystar::rpc
