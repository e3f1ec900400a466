#include "client/cli/terrain_argument.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace waystar::cli {
namespace {

constexpr absl::string_view kImpassable = "impassable";

absl::Status Malformed(absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(
      "'", text, "' is not a terrain: write SYMBOL=NAME:COST such as ~=river:3 or ^=mountain:impassable"));
}

}  // namespace

absl::StatusOr<v1::Terrain> ParseTerrain(absl::string_view text) {
  if (text.size() < 2 || text[1] != '=') {
    return Malformed(text);
  }
  v1::Terrain terrain;
  terrain.set_symbol(std::string(text.substr(0, 1)));
  const absl::string_view properties = text.substr(2);
  const size_t colon = properties.rfind(':');
  terrain.set_name(std::string(properties.substr(0, colon)));
  if (colon == absl::string_view::npos) {
    return terrain;
  }
  const absl::string_view cost = properties.substr(colon + 1);
  if (cost == kImpassable) {
    terrain.set_impassable(true);
    return terrain;
  }
  double value = 0;
  if (!absl::SimpleAtod(cost, &value)) {
    return Malformed(text);
  }
  terrain.set_cost(value);
  return terrain;
}

}  // namespace waystar::cli
