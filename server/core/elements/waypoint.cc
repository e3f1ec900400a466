#include "server/core/elements/waypoint.h"

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/elements/tags.h"
#include "server/geometry/shape.h"

namespace waystar::core {
namespace {

// Removes the first character of a non-empty text. Returns nothing if the UTF-8 is invalid.
std::optional<char32_t> TakeCharacter(absl::string_view& text) {
  // Smallest character encoded in that many bytes.
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const auto byte = [&](std::size_t i) { return char32_t{static_cast<unsigned char>(text[i])}; };
  const char32_t first = byte(0);
  const std::size_t size = first < 0x80 ? 1 : first < 0xC0 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (size == 0 || size > text.size() || first >= 0xF8) {
    return std::nullopt;
  }
  char32_t character = size == 1 ? first : first & (char32_t{0x7F} >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) {
      return std::nullopt;
    }
    character = character << 6 | (byte(i) & 0x3F);
  }
  const bool is_surrogate = character >= 0xD800 && character < 0xE000;
  if (character < kLeast[size] || character > 0x10FFFF || is_surrogate) {
    return std::nullopt;
  }
  text.remove_prefix(size);
  return character;
}

absl::Status BadLabel(absl::string_view message) { return MakeError(ErrorReason::kBadValue, "", message); }

}  // namespace

absl::Status CheckNodeId(absl::string_view id) {
  return CheckName(id, "the id of a node", ErrorReason::kBadNodeId);
}

absl::Status CheckNodeLabel(absl::string_view label) {
  if (label.size() > kMaxLabelBytes) {
    return BadLabel(
        absl::StrCat("the label of a node may have at most ", kMaxLabelBytes, " bytes, got ", label.size()));
  }
  for (absl::string_view rest = label; !rest.empty();) {
    const std::size_t at = label.size() - rest.size();
    const std::optional<char32_t> character = TakeCharacter(rest);
    if (!character) {
      return BadLabel(absl::StrCat("the label of a node is UTF-8, which this is not at byte ", at));
    }
    if (*character < 0x20 || (*character >= 0x7F && *character < 0xA0)) {
      return BadLabel(
          absl::StrCat("the label of a node has no control characters, and this has one at byte ", at));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPosition(const WorldPoint& position) {
  for (const auto& [value, field] : {std::pair(position.x, ".x"), {position.y, ".y"}, {position.z, ".z"}}) {
    // Negated so that NaN fails.
    if (!(std::abs(value) <= kMaxReach)) {
      return BadNumber(ErrorReason::kBadValue, field, value, "-2^20 to 2^20");
    }
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
