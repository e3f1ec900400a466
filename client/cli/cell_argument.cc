#include "client/cli/cell_argument.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace waystar::cli {

std::optional<std::pair<int32_t, int32_t>> ParsePair(absl::string_view text, char separator) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(separator, 1));
  int32_t first = 0;
  int32_t second = 0;
  if (!absl::SimpleAtoi(parts.first, &first) || !absl::SimpleAtoi(parts.second, &second)) {
    return std::nullopt;
  }
  return std::pair(first, second);
}

absl::StatusOr<v1::Cell> ParseCell(absl::string_view text) {
  const auto pair = ParsePair(text, ',');
  if (!pair) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a cell: write X,Y such as 3,4"));
  }
  v1::Cell cell;
  cell.set_x(pair->first);
  cell.set_y(pair->second);
  return cell;
}

absl::StatusOr<v1::Position> ParsePosition(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ',');
  double values[3] = {0.0, 0.0, 0.0};
  bool is_good = parts.size() == 2 || parts.size() == 3;
  for (size_t i = 0; is_good && i < parts.size(); ++i) {
    is_good = absl::SimpleAtod(parts[i], &values[i]);
  }
  if (!is_good) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not a position: write X,Y or X,Y,Z such as 3.5,-4"));
  }
  v1::Position position;
  position.set_x(values[0]);
  position.set_y(values[1]);
  position.set_z(values[2]);
  return position;
}

std::string FormatCell(const v1::Cell& cell) { return absl::StrCat(cell.x(), ",", cell.y()); }

std::string FormatPosition(const v1::Position& position) {
  const std::string plane = absl::StrFormat("%.10g,%.10g", position.x(), position.y());
  return position.z() == 0.0 ? plane : absl::StrFormat("%s,%.10g", plane, position.z());
}

}  // namespace waystar::cli
