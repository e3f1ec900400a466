#include "client/load/workload.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace waystar::load {
namespace {

constexpr std::size_t kTogglesAMap = 16;

using Place = std::pair<int, int>;
using Places = std::set<Place>;

Place PlaceOf(const v1::Cell& cell) { return {cell.x(), cell.y()}; }

v1::SampleCellsRequest SampleRequest(const v1::FindPathRequest& common, std::uint64_t seed) {
  v1::SampleCellsRequest request;
  request.set_map(common.map());
  request.set_seed(seed);
  if (common.has_agent()) {
    *request.mutable_agent() = common.agent();
  }
  if (common.has_view()) {
    *request.mutable_view() = common.view();
  }
  return request;
}

void AddPlace(const v1::Location& location, Places& places) {
  if (location.has_cell()) {
    places.insert(PlaceOf(location.cell()));
  }
}

absl::Status NothingToDraw(const std::string& map, absl::string_view what) {
  return absl::FailedPreconditionError(
      absl::StrCat("map \"", map, "\" has no ", what, " to draw for this load"));
}

absl::StatusOr<std::vector<v1::Cell>> SampleCells(const client::Client& client,
                                                  const v1::SampleCellsRequest& request,
                                                  const Places& without) {
  const auto answer = client.SampleCells(request);
  if (!answer.ok()) {
    return answer.status();
  }
  std::vector<v1::Cell> cells;
  std::copy_if(answer->cells().begin(), answer->cells().end(), std::back_inserter(cells),
               [&](const v1::Cell& cell) { return without.count(PlaceOf(cell)) == 0; });
  if (cells.empty()) {
    return NothingToDraw(request.map(), "cell");
  }
  return cells;
}

// Draws cells of a grid, nodes of a graph or points of a mesh.
absl::StatusOr<std::vector<v1::Location>> SamplePlaces(const client::Client& client,
                                                       const v1::SampleCellsRequest& request,
                                                       const Places& without) {
  const auto answer = client.SampleCells(request);
  if (!answer.ok()) {
    return answer.status();
  }
  std::vector<v1::Location> places;
  for (const v1::Cell& cell : answer->cells()) {
    if (without.count(PlaceOf(cell)) == 0) {
      *places.emplace_back().mutable_cell() = cell;
    }
  }
  for (const std::string& node : answer->nodes()) {
    places.emplace_back().set_node(node);
  }
  for (const v1::Position& position : answer->positions()) {
    *places.emplace_back().mutable_position() = position;
  }
  if (places.empty()) {
    return NothingToDraw(request.map(), "place");
  }
  return places;
}

// Draws the pairs that a part leaves to chance.
absl::Status DrawPairs(const client::Client& client, std::uint64_t seed, const Places& without, Part& part) {
  v1::SampleCellsRequest request = SampleRequest(part.common, seed);
  request.set_count(2 * part.random_pairs);
  const auto places = SamplePlaces(client, request, without);
  if (!places.ok()) {
    return places.status();
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(part.random_pairs); ++i) {
    v1::FindPathRequest query = part.common;
    SetEnds((*places)[2 * i % places->size()], (*places)[(2 * i + 1) % places->size()], query);
    part.queries.push_back(std::move(query));
  }
  part.random_pairs = 0;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Workload> Workload::Make(std::vector<Part> parts, const client::Client& client,
                                        std::uint64_t seed, bool want_toggles) {
  Workload workload;
  std::map<std::string, Places> given;
  for (const Part& part : parts) {
    Places& places = given[part.common.map()];
    for (const v1::FindPathRequest& query : part.queries) {
      AddPlace(query.start(), places);
      for (const v1::Location& goal : query.goals()) {
        AddPlace(goal, places);
      }
    }
  }
  std::map<std::string, Places> toggled;
  for (const auto& [map, places] : given) {
    if (!want_toggles) {
      break;
    }
    v1::SampleCellsRequest request;
    request.set_map(map);
    request.set_seed(seed);
    request.set_count(1000);
    request.set_distinct(true);
    const auto cells = SampleCells(client, request, places);
    if (!cells.ok()) {
      return cells.status();
    }
    for (std::size_t i = 0; i < std::min(cells->size(), kTogglesAMap); ++i) {
      workload.toggles_.push_back({map, (*cells)[i]});
      toggled[map].insert(PlaceOf((*cells)[i]));
    }
  }
  double weight = 0;
  for (Part& part : parts) {
    weight += part.weight;
    workload.weights_.push_back(weight);
    if (part.random_pairs > 0) {
      const absl::Status drawn = DrawPairs(client, ++seed, toggled[part.common.map()], part);
      if (!drawn.ok()) {
        return drawn;
      }
    }
  }
  workload.parts_ = std::move(parts);
  return workload;
}

const std::vector<v1::FindPathRequest>& Workload::PickPart(Random& random) const {
  const double drawn = std::uniform_real_distribution<double>(0, weights_.back())(random);
  const auto part = std::upper_bound(weights_.begin(), weights_.end() - 1, drawn) - weights_.begin();
  return parts_[static_cast<std::size_t>(part)].queries;
}

const v1::FindPathRequest& Workload::PickQuery(const std::vector<v1::FindPathRequest>& part, Random& random) {
  return part[std::uniform_int_distribution<std::size_t>(0, part.size() - 1)(random)];
}

}  // namespace waystar::load
