#include "client/cli/search_cells.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "client/cli/cell_argument.h"
#include "tests/client/cli/cells.h"

namespace waystar::cli {
namespace {

using ::waystar::testing::At;

v1::SearchEvent Event(v1::SearchEvent::Kind kind, const v1::Cell& cell) {
  v1::SearchEvent event;
  event.set_kind(kind);
  *event.mutable_cell() = cell;
  return event;
}

std::string Show(const std::vector<v1::Cell>& cells) {
  return absl::StrJoin(cells, " ", [](std::string* out, const v1::Cell& cell) { *out += FormatCell(cell); });
}

TEST(SearchCellsTest, SortsCellsByWhatBecameOfThem) {
  SearchCells cells;
  for (const auto& cell : {At(1, 0), At(0, 1), At(2, 2), At(0, 1)}) {
    cells.Add(Event(v1::SearchEvent::KIND_GENERATED, cell));
  }
  cells.Add(Event(v1::SearchEvent::KIND_EXPANDED, At(0, 1)));
  cells.Add(Event(v1::SearchEvent::KIND_GENERATED, At(0, 2)));
  cells.Add(Event(v1::SearchEvent::KIND_EXPANDED, At(1, 0)));
  cells.Add(Event(v1::SearchEvent::KIND_EXPANDED, At(0, 1)));
  EXPECT_EQ(Show(cells.expanded()), "0,1 1,0");
  EXPECT_EQ(Show(cells.Open()), "2,2 0,2");
}

}  // namespace
}  // namespace waystar::cli
