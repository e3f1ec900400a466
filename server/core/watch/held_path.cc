#include "server/core/watch/held_path.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <type_traits>
#include <utility>
#include <variant>

#include "server/core/edit/edit.h"
#include "server/core/grid/cells/bit_row.h"

namespace waystar::core {
namespace {

// Beyond this many words of cells in all areas, anything may have changed.
constexpr std::size_t kMostWords = 4096;

// Returns true if changed areas cover all that the edit changes.
bool HasAreas(const Edit& edit) {
  return std::visit(
      [](const auto& each) {
        using T = std::decay_t<decltype(each)>;
        return !std::is_same_v<T, PutPortal> && !std::is_same_v<T, RemovePortal> &&
               !std::is_same_v<T, SwitchPortal> && !std::is_same_v<T, PutProfile> &&
               !std::is_same_v<T, RemoveProfile> && !std::is_same_v<T, PutMeshPortal> &&
               !std::is_same_v<T, PutMeshProfile>;
      },
      edit);
}

// Returns true if the edit may change costs that only other profiles than the map's default pay.
bool ConcernsViews(const Edit& edit) {
  return std::holds_alternative<PutObstacle>(edit) || std::holds_alternative<MoveObstacle>(edit) ||
         std::holds_alternative<ResizeObstacle>(edit) || std::holds_alternative<RemoveObstacle>(edit);
}

void AddArea(const Rectangle& area, MapChanges& changes) {
  const Box box{static_cast<double>(area.x), static_cast<double>(area.y),
                static_cast<double>(area.x) + area.width, static_cast<double>(area.y) + area.height};
  changes.graph.changed.Add(box);
  changes.graph.opened.Add(box);
  changes.graph.sight.Add(box);
  changes.mesh.blocked.Add(box);
  changes.mesh.opened.Add(box);
}

// Sets the words of cells in these areas. Returns false if there are too many.
bool SetWords(absl::Span<const Rectangle> areas, const GridMap& map, MapChanges& changes) {
  std::map<std::pair<int, int>, Word> words;
  std::size_t visited = 0;
  for (const Rectangle& area : areas) {
    const Rectangle cells = Intersect(area, map.bounds());
    for (int y = cells.y; y < cells.y + cells.height; ++y) {
      ForEachWord(cells.x, cells.x + cells.width, [&](std::size_t index, Word mask) {
        words[{y, static_cast<int>(index)}] |= mask;
        ++visited;
      });
      if (visited > kMostWords) {
        return false;
      }
    }
  }
  for (const auto& [place, flipped] : words) {
    changes.walkability.push_back({.y = place.first, .index = place.second, .flipped = flipped});
    changes.touched.push_back(changes.walkability.back().place());
  }
  return true;
}

}  // namespace

std::size_t HeldPath::bytes() const {
  std::size_t bytes =
      sizeof(*this) + points.capacity() * sizeof(Cell) + corners.capacity() * sizeof(WorldPoint);
  for (const std::string& node : nodes) {
    bytes += sizeof(node) + node.capacity();
  }
  return bytes;
}

MapChanges ChangesOf(absl::Span<const CommitPtr> commits, const MapSnapshot& snapshot) {
  const MapChanges everything{.is_everything = true};
  std::vector<Rectangle> areas;
  for (const CommitPtr& commit : commits) {
    if (!std::ranges::all_of(commit->edits, HasAreas)) {
      return everything;
    }
    if (commit->changed_areas.empty() && !commit->summary.changed_bounds.empty()) {
      areas.push_back(commit->summary.changed_bounds);
    }
    areas.insert(areas.end(), commit->changed_areas.begin(), commit->changed_areas.end());
  }
  MapChanges changes;
  changes.is_every_view = std::ranges::any_of(
      commits, [](const CommitPtr& commit) { return std::ranges::any_of(commit->edits, ConcernsViews); });
  if (snapshot.as_graph() == nullptr && snapshot.as_mesh() == nullptr) {
    return SetWords(areas, snapshot.grid(), changes) ? changes : everything;
  }
  for (const Rectangle& area : areas) {
    AddArea(area, changes);
  }
  return changes;
}

}  // namespace waystar::core
