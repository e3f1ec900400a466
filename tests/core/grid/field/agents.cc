#include "tests/core/grid/field/agents.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/formats/text/rows.h"
#include "tests/testing/drawn_map.h"

namespace waystar::core {
namespace {

std::vector<std::string> RowsOf(const GridMap& map) {
  std::vector<std::string> rows;
  for (int y = 0; y < map.height(); ++y) {
    rows.push_back(FormatRow(map, y, kObstacleSymbol));
  }
  return rows;
}

}  // namespace

GridMap MapAndAgent::Make(testing::Generator& generator, int max_side) const {
  GridMap map = generator.Map(
      {.max_side = max_side, .max_cells = 2500, .weighted = weighted, .connectivity = connectivity});
  return own_costs ? generator.WithStepCostsChanged(map) : std::move(map);
}

testing::Walker WalkerOf(const Agent& agent) {
  return {.corner_rule = agent.corner_rule,
          .footprint = agent.footprint,
          .required_tags = {agent.required_tags.begin(), agent.required_tags.end()}};
}

std::vector<std::string> Arrows(const FlowField& field) {
  constexpr char kSigns[] = " ^/>\\v/<\\o@";
  std::vector<std::string> rows;
  for (int y = 0; y < field.region.height; ++y) {
    std::string row;
    for (int x = 0; x < field.region.width; ++x) {
      row.push_back(kSigns[field.directions[static_cast<std::size_t>(y * field.region.width + x)]]);
    }
    rows.push_back(row);
  }
  return rows;
}

std::vector<MapAndAgent> EveryMapAndAgent() {
  std::vector<MapAndAgent> all;
  for (const int footprint : {1, 2, 3}) {
    for (const bool weighted : {false, true}) {
      for (const bool own_costs : {false, true}) {
        MapAndAgent one{.weighted = weighted, .own_costs = own_costs, .agent = {.footprint = footprint}};
        for (const CornerRule rule :
             {CornerRule::kNoCornerCutting, CornerRule::kOneSideFree, CornerRule::kAlways}) {
          one.agent.corner_rule = rule;
          all.push_back(one);
        }
        one.connectivity = Connectivity::kFour;
        all.push_back(one);
        one.connectivity = Connectivity::kSix;
        all.push_back(one);
      }
    }
  }
  return all;
}

std::string NameOf(const ::testing::TestParamInfo<MapAndAgent>& info) {
  const MapAndAgent& one = info.param;
  const char* rule = one.agent.corner_rule == CornerRule::kNoCornerCutting ? "NoCornerCutting"
                     : one.agent.corner_rule == CornerRule::kOneSideFree   ? "OneSideFree"
                                                                           : "Always";
  return absl::StrCat(testing::ConnectivityName(one.connectivity), rule, one.weighted ? "Weighted" : "",
                      one.own_costs ? "OwnCosts" : "", "Footprint", one.agent.footprint);
}

namespace {

bool IsHexagonal(const GridMap& map) { return map.settings().connectivity == Connectivity::kSix; }

}  // namespace

// Hexagons are mirrored in their falling diagonal, which leaves neighbours neighbours.
GridMap Mirrored(const GridMap& map) {
  std::vector<std::string> rows = RowsOf(map);
  if (IsHexagonal(map)) {
    std::vector<std::string> columns(rows.front().size());
    for (const std::string& row : rows) {
      for (std::size_t x = 0; x < row.size(); ++x) {
        columns[x].push_back(row[x]);
      }
    }
    return testing::DrawMap(columns, map.settings());
  }
  for (std::string& row : rows) {
    row.assign(row.rbegin(), row.rend());
  }
  return testing::DrawMap(rows, map.settings());
}

Cell Mirrored(const GridMap& map, Cell cell) {
  return IsHexagonal(map) ? Cell{cell.y, cell.x} : Cell{map.width() - 1 - cell.x, cell.y};
}

// Hexagons by half a turn, others by a quarter.
GridMap Turned(const GridMap& map) {
  std::vector<std::string> rows = RowsOf(map);
  if (IsHexagonal(map)) {
    std::reverse(rows.begin(), rows.end());
    for (std::string& row : rows) {
      std::reverse(row.begin(), row.end());
    }
    return testing::DrawMap(rows, map.settings());
  }
  std::vector<std::string> turned;
  for (std::size_t x = 0; x < rows.front().size(); ++x) {
    std::string row;
    for (std::size_t y = rows.size(); y-- > 0;) {
      row.push_back(rows[y][x]);
    }
    turned.push_back(row);
  }
  return testing::DrawMap(turned, map.settings());
}

Cell Turned(const GridMap& map, Cell cell) {
  return IsHexagonal(map) ? Cell{map.width() - 1 - cell.x, map.height() - 1 - cell.y}
                          : Cell{map.height() - 1 - cell.y, cell.x};
}

}  // namespace waystar::core
