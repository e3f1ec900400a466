#include "client/load/workload.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace waystar::load {
namespace {

constexpr std::size_t kTogglesAMap = 16;

using Place = std::pair<int, int>;
using Places = std::set<Place>;

Place PlaceOf(const v1::Cell& cell) { return {cell.x(), cell.y()}; }

v1::SamplePlacesRequest SampleRequest(const v1::FindPathRequest& common, std::uint64_t seed) {
  v1::SamplePlacesRequest request;
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

// Draws cells of a grid, nodes of a graph or points of a mesh; or cells alone.
absl::StatusOr<std::vector<v1::Location>> DrawPlaces(const client::Client& client,
                                                     const v1::SamplePlacesRequest& request,
                                                     const Places& without, bool cells_only = false) {
  const auto answer = client.SamplePlaces(request);
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
  if (places.empty() || (cells_only && !places.front().has_cell())) {
    return absl::FailedPreconditionError(absl::StrCat(
        "map \"", request.map(), "\" has no ", cells_only ? "cell" : "place", " to draw for this load"));
  }
  return places;
}

// Adds a query with the common fields that leads from one place to the other, and to no other goal.
void AddQuery(const v1::Location& start, const v1::Location& goal, Part& part) {
  v1::FindPathRequest& query = part.queries.emplace_back(part.common);
  *query.mutable_start() = start;
  query.clear_goals();
  *query.add_goals() = goal;
}

// Draws the pairs that a part leaves to chance.
absl::Status DrawPairs(const client::Client& client, std::uint64_t seed, const Places& without, Part& part) {
  v1::SamplePlacesRequest request = SampleRequest(part.common, seed);
  request.set_count(2 * part.random_pairs);
  const auto places = DrawPlaces(client, request, without);
  if (!places.ok()) {
    return places.status();
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(part.random_pairs); ++i) {
    AddQuery((*places)[2 * i % places->size()], (*places)[(2 * i + 1) % places->size()], part);
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
    v1::SamplePlacesRequest request;
    request.set_map(map);
    request.set_seed(seed);
    request.set_count(1000);
    request.set_distinct(true);
    const auto cells = DrawPlaces(client, request, places, /*cells_only=*/true);
    if (!cells.ok()) {
      return cells.status();
    }
    for (std::size_t i = 0; i < std::min(cells->size(), kTogglesAMap); ++i) {
      workload.toggles_.push_back({map, (*cells)[i].cell()});
      AddPlace((*cells)[i], toggled[map]);
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

namespace {

constexpr int kMaxRandomPairs = 50'000;

// The first word of the start, and of what follows the goal.
constexpr std::size_t kFirst = 4;
constexpr std::size_t kEnd = 8;

using Words = std::vector<absl::string_view>;

absl::Status Bad(absl::string_view sentence) { return absl::InvalidArgumentError(sentence); }

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

absl::StatusOr<v1::Location> CellOf(absl::string_view text) {
  const Words numbers = absl::StrSplit(text, ',');
  v1::Location location;
  if (numbers.size() != 2 || !ReadCell(numbers[0], numbers[1], location)) {
    return Bad(absl::StrCat("'", text, "' is not a cell: write such as 3,4"));
  }
  return location;
}

absl::Status AddPair(const Words& words, Part& part) {
  if (words.size() != 2) {
    return Bad("a pair is two cells, such as 3,4 60,40");
  }
  const auto start = CellOf(words[0]);
  const auto goal = CellOf(words[1]);
  if (!start.ok() || !goal.ok()) {
    return (start.ok() ? goal : start).status();
  }
  AddQuery(*start, *goal, part);
  return absl::OkStatus();
}

absl::Status AddScenarios(const std::string& name, absl::string_view text, Part& part) {
  const bool has_positions = HasPositions(text);
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    const Words words = ScenarioWords(line);
    if (words.empty() || (number == 1 && words[0] == "version")) {
      continue;
    }
    v1::Location start;
    v1::Location goal;
    if (!ReadScenarioEnds(words, has_positions, start, goal)) {
      return Bad(
          absl::StrCat(name, " line ", number, ": this is not a scenario of the Moving AI benchmarks"));
    }
    AddQuery(start, goal, part);
  }
  return part.queries.empty() ? Bad(absl::StrCat(name, " has no scenarios")) : absl::OkStatus();
}

absl::Status AddFields(absl::string_view json, Part& part) {
  v1::FindPathRequest fields;
  const auto status = google::protobuf::util::JsonStringToMessage(std::string(json), &fields);
  if (!status.ok()) {
    return Bad(absl::StrCat("this is not JSON of a FindPathRequest: ", std::string(status.message())));
  }
  if (!fields.map().empty() && fields.map() != part.common.map()) {
    return Bad("the map stands at the beginning of the line");
  }
  part.common.MergeFrom(fields);
  return absl::OkStatus();
}

// Parses the words after weight and map, and the JSON.
absl::Status AddKind(const Words& words, bool has_json, const FileReader& read_file, Part& part) {
  const absl::string_view kind = words.empty() ? "" : words[0];
  const Words rest(words.empty() ? words.begin() : words.begin() + 1, words.end());
  if (kind == "pair") {
    return AddPair(rest, part);
  }
  if (kind == "random") {
    if (rest.size() != 1 || !absl::SimpleAtoi(rest[0], &part.random_pairs) || part.random_pairs < 1 ||
        part.random_pairs > kMaxRandomPairs) {
      return Bad(absl::StrCat("random is followed by a number of pairs, 1 to ", kMaxRandomPairs));
    }
    return absl::OkStatus();
  }
  if (kind == "scen") {
    if (rest.size() != 1) {
      return Bad("scen is followed by the name of a file");
    }
    const std::string name(rest[0]);
    const auto text = read_file(name);
    return text.ok() ? AddScenarios(name, *text, part)
                     : Bad(absl::StrCat("cannot read ", name, ": ", text.status().message()));
  }
  if (kind == "query") {
    if (!rest.empty() || !has_json) {
      return Bad("query is followed by the JSON of a FindPathRequest");
    }
    part.queries.push_back(part.common);
    return absl::OkStatus();
  }
  return Bad("after weight and map comes random, pair, scen or query");
}

absl::StatusOr<Part> ParsePart(absl::string_view line, const FileReader& read_file) {
  Part part;
  const std::size_t json = line.find('{');
  const bool has_json = json != absl::string_view::npos;
  Words words = ScenarioWords(line.substr(0, json));
  if (words.size() < 2 || !absl::SimpleAtod(words[0], &part.weight) || !(part.weight > 0) ||
      part.weight > 1e9) {
    return Bad("a line begins with a weight, a positive number, and a map");
  }
  part.common.set_map(std::string(words[1]));
  words.erase(words.begin(), words.begin() + 2);
  absl::Status status = has_json ? AddFields(line.substr(json), part) : absl::OkStatus();
  if (status.ok()) {
    status = AddKind(words, has_json, read_file, part);
  }
  if (!status.ok()) {
    return status;
  }
  return part;
}

}  // namespace

absl::StatusOr<std::vector<Part>> ParseScenario(absl::string_view text, const FileReader& read_file) {
  std::vector<Part> parts;
  int number = 0;
  for (const absl::string_view raw : absl::StrSplit(text, '\n')) {
    ++number;
    const absl::string_view line = absl::StripAsciiWhitespace(raw);
    if (line.empty() || absl::StartsWith(line, "#")) {
      continue;
    }
    auto part = ParsePart(line, read_file);
    if (!part.ok()) {
      return Bad(absl::StrCat("line ", number, ": ", part.status().message()));
    }
    parts.push_back(*std::move(part));
  }
  if (parts.empty()) {
    return Bad("there is no query in it");
  }
  return parts;
}

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
