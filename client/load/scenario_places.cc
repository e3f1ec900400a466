#include "client/load/scenario_places.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace waystar::load {
namespace {

// The first word of the start, and of what follows the goal.
constexpr std::size_t kFirst = 4;
constexpr std::size_t kEnd = 8;

bool ReadPosition(absl::string_view x, absl::string_view y, v1::Location& place) {
  double position[2] = {};
  if (!absl::SimpleAtod(x, &position[0]) || !absl::SimpleAtod(y, &position[1]) ||
      !std::isfinite(position[0]) || !std::isfinite(position[1])) {
    return false;
  }
  place.mutable_position()->set_x(position[0]);
  place.mutable_position()->set_y(position[1]);
  return true;
}

bool ReadCell(absl::string_view x, absl::string_view y, v1::Location& place) {
  std::int32_t cell[2] = {};
  if (!absl::SimpleAtoi(x, &cell[0]) || !absl::SimpleAtoi(y, &cell[1])) {
    return false;
  }
  place.mutable_cell()->set_x(cell[0]);
  place.mutable_cell()->set_y(cell[1]);
  return true;
}

}  // namespace

std::vector<absl::string_view> ScenarioWords(absl::string_view line) {
  return absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
}

bool HasPositions(absl::string_view text) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> words = ScenarioWords(line);
    for (std::size_t i = kFirst; i < std::min(words.size(), kEnd); ++i) {
      if (absl::StrContains(words[i], '.')) {
        return true;
      }
    }
  }
  return false;
}

bool ReadScenarioEnds(const std::vector<absl::string_view>& words, bool has_positions, v1::Location& start,
                      v1::Location& goal) {
  const auto read = has_positions ? ReadPosition : ReadCell;
  return words.size() >= kEnd && read(words[4], words[5], start) && read(words[6], words[7], goal);
}

}  // namespace waystar::load
