#include "server/core/elements/tags.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace waystar::core {

absl::Status CheckName(absl::string_view name, absl::string_view whose, ErrorReason reason,
                       absl::string_view field) {
  const auto is_allowed = [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == ':' || c == '-';
  };
  if (!name.empty() && name.size() <= kMaxNameBytes &&
      absl::ascii_isalnum(static_cast<unsigned char>(name.front())) &&
      std::all_of(name.begin(), name.end(), is_allowed)) {
    return absl::OkStatus();
  }
  const absl::string_view shown = name.substr(0, kMaxNameBytes);
  return MakeError(
      reason, field,
      absl::StrCat(whose, " has 1 to ", kMaxNameBytes,
                   " of A-Z, a-z, 0-9, '_', '.', ':' and '-', and begins with a letter or digit; this is \"",
                   absl::CHexEscape(shown), shown.size() < name.size() ? "…" : "", "\""));
}

absl::Status CheckTags(const std::vector<std::string>& tags, ErrorReason reason) {
  if (tags.size() > kMaxTags) {
    return MakeError(reason, "", absl::StrCat("at most ", kMaxTags, " tags, got ", tags.size()));
  }
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const std::string field = absl::StrCat("[", i, "]");
    const std::string& tag = tags[i];
    if (tag.empty() || tag.size() > kMaxTagBytes ||
        !std::all_of(tag.begin(), tag.end(), [](unsigned char c) { return absl::ascii_isgraph(c); })) {
      return MakeError(
          reason, field,
          absl::StrCat("a tag has 1 to ", kMaxTagBytes, " printable ASCII characters and no spaces"));
    }
    const auto end = tags.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(tags.begin(), end, tag) != end) {
      return MakeError(reason, field, absl::StrCat("the tag \"", tag, "\" is there twice"));
    }
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
