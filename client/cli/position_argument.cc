#include "client/cli/position_argument.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace waystar::cli {

absl::StatusOr<v1::Position> ParsePosition(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ',');
  double values[3] = {0.0, 0.0, 0.0};
  bool is_good = parts.size() == 2 || parts.size() == 3;
  for (size_t i = 0; is_good && i < parts.size(); ++i) {
    is_good = absl::SimpleAtod(parts[i], &values[i]);
  }
  if (!is_good) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is not a position: write X,Y or X,Y,Z, such as 3.5,4"));
  }
  v1::Position position;
  position.set_x(values[0]);
  position.set_y(values[1]);
  position.set_z(values[2]);
  return position;
}

std::string FormatPosition(const v1::Position& position) {
  const std::string plane = absl::StrFormat("%.10g,%.10g", position.x(), position.y());
  return position.z() == 0.0 ? plane : absl::StrFormat("%s,%.10g", plane, position.z());
}

}  // namespace waystar::cli
