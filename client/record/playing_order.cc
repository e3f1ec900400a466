#include "client/record/playing_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

#include "client/record/methods.h"

namespace waystar::record {
namespace {

// Where a unit stands among those of its id.
struct Place {
  // Which of the maps that have had the id, in their order.
  std::size_t map = 0;
  std::uint64_t revision = 0;
  // What makes a revision, what is answered at it, and what ends the map with it.
  int rank = 1;

  bool operator<(const Place& other) const {
    return std::tie(map, revision, rank) < std::tie(other.map, other.revision, other.rank);
  }
};

using Maps = std::map<std::uint64_t, std::size_t>;

// Numbers the maps that have had one id, by epoch, in the order in which they were there. Epochs have no
// order, but a map was there when its creation had ended, or else when the first call that it answered began.
Maps NumberMaps(const std::vector<Unit>& units) {
  struct Begin {
    std::int64_t nanos = 0;
    bool is_creation = false;
  };
  std::map<std::uint64_t, Begin> begins;
  for (const Unit& unit : units) {
    if (unit.revision == 0) {
      continue;
    }
    const bool is_creation = CreatesMap(unit);
    const std::int64_t nanos = is_creation ? unit.end_nanos : unit.begin_nanos;
    const auto [it, is_first] = begins.emplace(unit.epoch, Begin{nanos, is_creation});
    Begin& begin = it->second;
    if (!is_first && (is_creation || (!begin.is_creation && nanos < begin.nanos))) {
      begin = {nanos, is_creation};
    }
  }
  std::vector<std::pair<std::int64_t, std::uint64_t>> in_order;
  in_order.reserve(begins.size());
  for (const auto& [epoch, begin] : begins) {
    in_order.emplace_back(begin.nanos, epoch);
  }
  std::sort(in_order.begin(), in_order.end());
  Maps maps;
  for (const auto& [nanos, epoch] : in_order) {
    maps.emplace(epoch, maps.size());
  }
  return maps;
}

Place PlaceOf(const Unit& unit, const Maps& maps, const Place& latest) {
  if (unit.revision == 0) {
    return latest;
  }
  const std::size_t map = maps.at(unit.epoch);
  if (!unit.is_update) {
    return {map, unit.revision, 1};
  }
  return {map, unit.revision, unit.method == kDeleteMap ? 2 : 0};
}

// Those of one id, in any order.
std::vector<Unit> Sorted(std::vector<Unit> units) {
  const Maps maps = NumberMaps(units);
  std::stable_sort(units.begin(), units.end(),
                   [](const Unit& a, const Unit& b) { return a.begin_nanos < b.begin_nanos; });
  std::vector<const Unit*> by_end;
  by_end.reserve(units.size());
  for (const Unit& unit : units) {
    by_end.push_back(&unit);
  }
  std::sort(by_end.begin(), by_end.end(),
            [](const Unit* a, const Unit* b) { return a->end_nanos < b->end_nanos; });
  std::vector<std::pair<Place, std::size_t>> places;
  // Where the map was; behind what made the revision.
  Place latest;
  auto ended = by_end.begin();
  for (std::size_t i = 0; i < units.size(); ++i) {
    for (; ended != by_end.end() && (*ended)->end_nanos <= units[i].begin_nanos; ++ended) {
      Place place = PlaceOf(**ended, maps, latest);
      place.rank = std::max(place.rank, 1);
      latest = std::max(latest, place);
    }
    places.emplace_back(PlaceOf(units[i], maps, latest), i);
  }
  std::sort(places.begin(), places.end());
  std::vector<Unit> sorted;
  sorted.reserve(units.size());
  for (const auto& [place, i] : places) {
    sorted.push_back(std::move(units[i]));
  }
  return sorted;
}

}  // namespace

void PutInPlayingOrder(std::vector<Unit>& units) {
  std::map<std::string, std::vector<Unit>> by_map;
  for (Unit& unit : units) {
    std::string map = unit.map;
    by_map[std::move(map)].push_back(std::move(unit));
  }
  units.clear();
  struct Line {
    std::vector<Unit> units;
    std::size_t next = 0;
  };
  std::vector<Line> lines;
  // By when the first of a line came in.
  using Head = std::pair<std::int64_t, std::size_t>;
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  for (auto& [map, of_map] : by_map) {
    lines.push_back({Sorted(std::move(of_map))});
    heads.emplace(lines.back().units.front().begin_nanos, lines.size() - 1);
  }
  while (!heads.empty()) {
    const std::size_t first = heads.top().second;
    heads.pop();
    Line& line = lines[first];
    units.push_back(std::move(line.units[line.next++]));
    if (line.next < line.units.size()) {
      heads.emplace(line.units[line.next].begin_nanos, first);
    }
  }
}

}  // namespace waystar::record
