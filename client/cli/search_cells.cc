#include "client/cli/search_cells.h"

#include <algorithm>
#include <iterator>

namespace waystar::cli {
namespace {

std::uint64_t KeyOf(const v1::Cell& cell) {
  return std::uint64_t{static_cast<std::uint32_t>(cell.y())} << 32 | static_cast<std::uint32_t>(cell.x());
}

}  // namespace

void SearchCells::Add(const v1::SearchEvent& event) {
  const auto [entry, is_new] = is_expanded_.try_emplace(KeyOf(event.cell()), false);
  if (is_new) {
    generated_.push_back(event.cell());
  }
  if (event.kind() == v1::SearchEvent::KIND_EXPANDED && !entry->second) {
    entry->second = true;
    expanded_.push_back(event.cell());
  }
}

std::vector<v1::Cell> SearchCells::Open() const {
  std::vector<v1::Cell> open;
  std::copy_if(generated_.begin(), generated_.end(), std::back_inserter(open),
               [this](const v1::Cell& cell) { return !is_expanded_.at(KeyOf(cell)); });
  return open;
}

}  // namespace waystar::cli
