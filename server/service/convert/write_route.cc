#include "server/service/convert/write_route.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>
#include <vector>

#include "google/protobuf/arena.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_query.h"
#include "waystar/v1/types.pb.h"

namespace waystar::rpc {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

// Tag of a field in one byte, for field numbers up to 15.
template <int kField, WireFormatLite::WireType kType>
constexpr std::uint8_t TagOf() {
  constexpr std::uint32_t kTag = WireFormatLite::MakeTag(kField, kType);
  static_assert(kTag < 0x80, "the tag takes more than one byte");
  return static_cast<std::uint8_t>(kTag);
}

// Tag and length of a point or position, which takes less than 128 bytes.
constexpr std::size_t kHeadBytes = 2;
constexpr std::size_t kMostPointBytes = kHeadBytes + 2 * (1 + 10);
constexpr std::size_t kMostPositionBytes = kHeadBytes + 3 * (1 + 8);

// A field that is 0 is omitted.
template <int kField>
std::uint8_t* WriteCoordinate(std::int32_t value, std::uint8_t* out) {
  if (value == 0) {
    return out;
  }
  *out++ = TagOf<kField, WireFormatLite::WIRETYPE_VARINT>();
  return CodedOutputStream::WriteVarint32SignExtendedToArray(value, out);
}

template <int kField>
std::uint8_t* WriteCoordinate(double value, std::uint8_t* out) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  if (bits == 0) {
    return out;
  }
  *out++ = TagOf<kField, WireFormatLite::WIRETYPE_FIXED64>();
  return CodedOutputStream::WriteLittleEndian64ToArray(bits, out);
}

// Writes field `kField`, whose parts `write_parts` writes.
template <int kField, typename WriteParts>
std::uint8_t* WritePlace(std::uint8_t* out, WriteParts write_parts) {
  std::uint8_t* const begin = out + kHeadBytes;
  std::uint8_t* const end = write_parts(begin);
  out[0] = TagOf<kField, WireFormatLite::WIRETYPE_LENGTH_DELIMITED>();
  out[1] = static_cast<std::uint8_t>(end - begin);
  return end;
}

constexpr std::pair<v1::Outcome, core::Outcome> kOutcomes[] = {
    {v1::OUTCOME_FOUND, core::Outcome::kFound},
    {v1::OUTCOME_PARTIAL, core::Outcome::kPartial},
    {v1::OUTCOME_UNREACHABLE, core::Outcome::kUnreachable},
    {v1::OUTCOME_BUDGET_EXHAUSTED, core::Outcome::kBudgetExhausted},
    {v1::OUTCOME_TOO_COSTLY, core::Outcome::kTooCostly}};

constexpr std::pair<v1::OutcomeReason, core::OutcomeReason> kReasons[] = {
    {v1::OUTCOME_REASON_GOAL_REACHED, core::OutcomeReason::kGoalReached},
    {v1::OUTCOME_REASON_NO_ROUTE, core::OutcomeReason::kNoRoute},
    {v1::OUTCOME_REASON_GOAL_BLOCKED, core::OutcomeReason::kGoalBlocked},
    {v1::OUTCOME_REASON_EXPANSION_LIMIT, core::OutcomeReason::kExpansionLimit},
    {v1::OUTCOME_REASON_SCRATCH_LIMIT, core::OutcomeReason::kScratchLimit},
    {v1::OUTCOME_REASON_COST_LIMIT, core::OutcomeReason::kCostLimit}};

void FillRouteInfo(const core::Route& route, const RouteStamp& stamp, v1::AnswerInfo& info) {
  const core::SearchStatistics& statistics = route.path.statistics;
  FillInfo(stamp.version, stamp.staleness, route.bound(), info);
  v1::SearchStatistics& out = *info.mutable_statistics();
  out.set_expanded(statistics.expanded);
  out.set_generated(statistics.generated);
  out.set_algorithm(FromAlgorithm(statistics.algorithm));
  FillDuration(stamp.queued, *out.mutable_queue_time());
  FillDuration(route.searching, *out.mutable_search_time());
}

template <typename Portal>
v1::PortalCrossing& AddCrossing(const Portal& portal, std::size_t index, const core::MapVersion& version,
                                v1::Path& path) {
  v1::PortalCrossing& out = *path.add_crossings();
  out.set_portal(portal.id);
  out.set_index(static_cast<int>(index));
  // A portal within a map has no target map.
  if (!portal.to_map.empty()) {
    out.set_map(portal.to_map);
    FillVersion(version, *out.mutable_map_version());
  }
  return out;
}

void FillCrossings(const core::Route& route, v1::Path& path) {
  for (std::size_t i = 0; i < route.crossings.size(); ++i) {
    const core::PortalCrossing& crossing = route.crossings[i];
    v1::PortalCrossing& out = AddCrossing(*crossing.portal, crossing.index, route.crossing_versions[i], path);
    FillCell(HexCoordinates(route.crossing_boards[i]).FromPlane(crossing.arrival), *out.mutable_arrival());
  }
}

void FillSummary(const core::RouteSummary& summary, v1::PathSummary& out) {
  out.set_length(summary.length);
  out.set_turns(summary.turns);
  for (const core::RouteSummary::Leg& leg : summary.legs) {
    v1::PathSummary::Leg& written = *out.add_legs();
    written.set_terrain(std::string(1, leg.terrain));
    written.set_cells(leg.cells);
    written.set_length(leg.length);
    written.set_cost(leg.cost);
  }
}

// Fills in where the path was clipped and where its turns end.
void FillClip(const core::Route& route, const HexCoordinates& at_home, v1::FindPathResponse& response) {
  if (route.rest.has_value()) {
    response.mutable_rest()->set_cost(route.rest->cost);
    response.mutable_rest()->set_length(route.rest->length);
  }
  for (const core::RouteTurn& turn : route.turn_ends) {
    v1::TurnEnd& out = *response.add_turn_ends();
    out.set_cost(turn.cost);
    out.set_crossings(static_cast<int>(turn.crossings));
    if (route.graph != nullptr) {
      out.mutable_place()->set_node(route.graph->IdOf(turn.node));
    } else if (route.mesh_agent != nullptr) {
      FillPosition(turn.position, *out.mutable_place()->mutable_position());
    } else {
      const HexCoordinates here =
          turn.crossings == 0 ? at_home : HexCoordinates(route.crossing_boards[turn.crossings - 1]);
      FillCell(here.FromPlane(turn.cell), *out.mutable_place()->mutable_cell());
    }
  }
}

// Fills in the fields for waypoint graphs, except positions.
void FillOnGraph(const core::Route& route, v1::Path& path) {
  for (const core::NodeNumber node : route.nodes) {
    path.add_nodes(route.graph->IdOf(node));
  }
  const auto fill_end = [&](bool is_position, const core::WorldPoint& position, const std::string& node,
                            v1::Location& end) {
    if (is_position) {
      FillPosition(position, *end.mutable_position());
    } else {
      end.set_node(node);
    }
  };
  if (!route.positions.empty()) {
    const std::string none;
    fill_end(route.starts_at_position, route.positions.front(), path.nodes().empty() ? none : path.nodes(0),
             *path.mutable_start());
    fill_end(route.ends_at_position, route.positions.back(),
             path.nodes().empty() ? none : *path.nodes().rbegin(), *path.mutable_end());
  }
}

// Fills in the fields for meshes, except positions.
void FillOnMesh(const core::Route& route, v1::Path& path) {
  if (!route.positions.empty()) {
    FillPosition(route.positions.front(), *path.mutable_start()->mutable_position());
    FillPosition(route.positions.back(), *path.mutable_end()->mutable_position());
  }
  for (const core::MeshLeg& leg :
       core::LegsOnMeshes(*route.mesh_agent, {}, route.corridor, route.mesh_crossings)) {
    // Consecutive pieces of one polygon are one polygon of the map.
    core::PolygonNumber last = core::kNoPolygon;
    for (const core::PolygonNumber piece : leg.corridor) {
      const core::PolygonNumber polygon = leg.mesh->WholeOf(piece);
      if (polygon != last) {
        path.add_corridor(polygon);
      }
      last = polygon;
    }
  }
  for (const core::WorldPoint& point : route.surface) {
    FillPosition(point, *path.add_surface());
  }
  for (const core::MeshLeg& leg :
       core::LegsOnMeshes(*route.mesh_agent, {}, route.polygons, route.mesh_crossings)) {
    for (const core::PolygonNumber piece : leg.corridor) {
      v1::CorridorPolygon& out = *path.add_polygons();
      out.set_polygon(leg.mesh->WholeOf(piece));
      for (const std::uint32_t vertex : leg.mesh->VerticesOf(piece)) {
        FillPosition(leg.mesh->VertexAt(vertex), *out.add_corners());
      }
    }
  }
  for (std::size_t i = 0; i < route.mesh_crossings.size(); ++i) {
    const core::MeshCrossing& crossing = route.mesh_crossings[i];
    v1::PortalCrossing& out = AddCrossing(*crossing.portal, crossing.index, route.crossing_versions[i], path);
    FillPosition(crossing.arrival, *out.mutable_arrival_position());
  }
}

// Fills in the fields for grids, except points and positions.
void FillOnGrid(const core::Route& route, const HexCoordinates& coordinates, v1::Path& path) {
  path.set_form(FromPathForm(route.form));
  FillCell(coordinates.FromPlane(route.start), *path.mutable_start()->mutable_cell());
  if (core::HasPath(route.path.outcome)) {
    const HexCoordinates at_end =
        route.crossing_boards.empty() ? coordinates : HexCoordinates(route.crossing_boards.back());
    FillCell(at_end.FromPlane(route.path.end), *path.mutable_end()->mutable_cell());
  }
  path.mutable_directions()->Reserve(static_cast<int>(route.path.directions.size()));
  for (const core::Direction direction : route.path.directions) {
    path.add_directions(static_cast<v1::Direction>(static_cast<int>(direction) + 1));
  }
  FillCrossings(route, path);
}

bool IsSamePlace(const v1::Location& a, const v1::Location& b) {
  return a.place_case() == b.place_case() && ToCell(a.cell()) == ToCell(b.cell()) &&
         ToWorldPoint(a.position()) == ToWorldPoint(b.position()) && a.node() == b.node();
}

// Fills in the ends that the query gave, where the search found others.
void FillAskedEnds(const core::Route& route, const RouteStamp& stamp, v1::Path& path) {
  if (stamp.start != nullptr && path.has_start() && !IsSamePlace(*stamp.start, path.start())) {
    *path.mutable_asked_start() = *stamp.start;
  }
  if (stamp.goals != nullptr && route.path.outcome == core::Outcome::kFound && !route.rest) {
    const v1::Location& goal = (*stamp.goals)[static_cast<int>(route.goal_index)];
    if (!IsSamePlace(goal, path.end())) {
      *path.mutable_asked_end() = goal;
    }
  }
}

// Fills in everything but points and positions.
void FillPath(const core::Route& route, const RouteStamp& stamp, const HexCoordinates& coordinates,
              v1::Path& path) {
  if (route.graph != nullptr) {
    FillOnGraph(route, path);
  } else if (route.mesh_agent != nullptr) {
    FillOnMesh(route, path);
  } else {
    FillOnGrid(route, coordinates, path);
  }
  FillAskedEnds(route, stamp, path);
}

// Returns the points of a path in client coordinates: after each portal, those of the target map.
std::vector<core::Cell> CountedPoints(const core::Route& route, const HexCoordinates& at_home) {
  std::vector<core::Cell> points;
  points.reserve(route.path.points.size());
  HexCoordinates here = at_home;
  std::size_t crossed = 0;
  for (const core::Cell point : route.path.points) {
    for (; crossed < route.crossings.size() && route.crossings[crossed].index <= points.size(); ++crossed) {
      here = HexCoordinates(route.crossing_boards[crossed]);
    }
    points.push_back(here.FromPlane(point));
  }
  return points;
}

bool CountsBoards(const core::Route& route, const HexCoordinates& at_home) {
  return !at_home.IsPlane() || std::any_of(route.crossing_boards.begin(), route.crossing_boards.end(),
                                           [](const auto& board) { return board.has_value(); });
}

void FillPoints(absl::Span<const core::Cell> points, absl::Span<const core::WorldPoint> positions,
                v1::Path& path) {
  path.mutable_points()->Reserve(static_cast<int>(points.size()));
  for (const core::Cell point : points) {
    FillCell(point, *path.add_points());
  }
  path.mutable_positions()->Reserve(static_cast<int>(positions.size()));
  for (const core::WorldPoint& position : positions) {
    FillPosition(position, *path.add_positions());
  }
}

// Fills in what it is, and its price.
void FillBlocker(const core::Blocker& blocker, v1::Blocker& out) {
  switch (blocker.kind) {
    case core::Blocker::Kind::kObstacle:
      out.set_obstacle(blocker.id);
      break;
    case core::Blocker::Kind::kArea:
      out.set_overlay(true);
      break;
    case core::Blocker::Kind::kNameless:
      out.set_nameless(true);
      break;
    case core::Blocker::Kind::kTerrain:
      out.set_terrain(blocker.id);
      break;
    case core::Blocker::Kind::kNode:
      out.set_node(blocker.id);
      break;
    case core::Blocker::Kind::kEdge:
      out.mutable_edge()->set_from(blocker.id);
      out.mutable_edge()->set_to(blocker.to);
      out.mutable_edge()->set_one_way(true);
      break;
    case core::Blocker::Kind::kPortal:
      out.set_portal(blocker.id);
      break;
  }
  out.set_price(blocker.price);
}

v1::SearchEvent::Kind FromKind(core::SearchEvent::Kind kind) {
  return kind == core::SearchEvent::Kind::kGenerated ? v1::SearchEvent::KIND_GENERATED
                                                     : v1::SearchEvent::KIND_EXPANDED;
}

// Fills in the fields common to events about cells and nodes.
template <typename Event>
void FillStep(const Event& event, v1::SearchEvent& out) {
  out.set_kind(FromKind(event.kind));
  out.set_g(core::CostToDouble(event.g));
  out.set_f(core::CostToDouble(event.f));
}

}  // namespace

void WritePoints(absl::Span<const core::Cell> points, WrittenMessage& path) {
  path.Add(points.size() * kMostPointBytes, [points](std::uint8_t* out) {
    for (const core::Cell point : points) {
      out = WritePlace<v1::Path::kPointsFieldNumber>(out, [point](std::uint8_t* part) {
        part = WriteCoordinate<v1::Cell::kXFieldNumber>(point.x, part);
        return WriteCoordinate<v1::Cell::kYFieldNumber>(point.y, part);
      });
    }
    return out;
  });
}

void WritePositions(absl::Span<const core::WorldPoint> positions, WrittenMessage& path) {
  path.Add(positions.size() * kMostPositionBytes, [positions](std::uint8_t* out) {
    for (const core::WorldPoint& position : positions) {
      out = WritePlace<v1::Path::kPositionsFieldNumber>(out, [&position](std::uint8_t* part) {
        part = WriteCoordinate<v1::Position::kXFieldNumber>(position.x, part);
        part = WriteCoordinate<v1::Position::kYFieldNumber>(position.y, part);
        return WriteCoordinate<v1::Position::kZFieldNumber>(position.z, part);
      });
    }
    return out;
  });
}

std::size_t WriteRoute(const core::Route& route, const RouteStamp& stamp, const HexCoordinates& coordinates,
                       v1::FindPathResponse& response, WrittenMessage* written) {
  const core::PathResult& path = route.path;
  response.set_outcome(ToWire(kOutcomes, path.outcome));
  response.set_reason(ToWire(kReasons, path.reason));
  response.set_cost(path.cost);
  response.set_least_cost(path.least_cost);
  FillClip(route, coordinates, response);
  FillRouteInfo(route, stamp, *response.mutable_info());
  response.set_goal_index(static_cast<std::int32_t>(route.goal_index));
  if (route.summary.has_value()) {
    FillSummary(*route.summary, *response.mutable_summary());
  }
  std::vector<core::Cell> counted;
  absl::Span<const core::Cell> points = path.points;
  if (CountsBoards(route, coordinates)) {
    counted = CountedPoints(route, coordinates);
    points = counted;
  }
  if (written == nullptr) {
    FillPath(route, stamp, coordinates, *response.mutable_path());
    FillPoints(points, route.positions, *response.mutable_path());
    return response.ByteSizeLong();
  }
  // Not a field of `response`, whose fields are added too.
  auto& rest = *google::protobuf::Arena::CreateMessage<v1::Path>(response.GetArena());
  FillPath(route, stamp, coordinates, rest);
  WrittenMessage written_path(rest);
  WritePoints(points, written_path);
  WritePositions(route.positions, written_path);
  written_path.AddFieldsOf(rest);
  written->AddField(v1::FindPathResponse::kPathFieldNumber, written_path);
  written->AddFieldsOf(response);
  return written->size();
}

void WriteExplanation(const core::Explanation& explanation, const core::Route& route,
                      const v1::ExplainPathRequest& request, const HexCoordinates& coordinates,
                      v1::ExplainPathResponse& response) {
  v1::SearchStatistics& statistics = *response.mutable_info()->mutable_statistics();
  statistics.set_generated(explanation.statistics.generated);
  statistics.set_algorithm(FromAlgorithm(explanation.statistics.algorithm));
  response.set_outcome(ToWire(kOutcomes, route.path.outcome));
  response.set_cost(explanation.cost);
  response.set_price(explanation.price);
  v1::Path& path = *response.mutable_path();
  FillPath(route, {.start = &request.start()}, coordinates, path);
  if (!explanation.is_found) {
    return;
  }
  if (!IsSamePlace(request.goal(), path.end())) {
    *path.mutable_asked_end() = request.goal();
  }
  FillPoints(CountedPoints(route, coordinates), route.positions, path);
  for (const core::Blocker& blocker : explanation.blockers) {
    v1::Blocker& out = *response.add_blockers();
    FillBlocker(blocker, out);
    const auto index = static_cast<int>(blocker.index);
    if (route.graph != nullptr) {
      out.mutable_entry()->set_node(path.nodes(index));
    } else if (route.mesh_agent != nullptr) {
      FillPosition(blocker.point, *out.mutable_entry()->mutable_position());
    } else {
      *out.mutable_entry()->mutable_cell() = path.points(index);
    }
  }
}

std::size_t LeastBytesOf(const core::Route& route) {
  constexpr std::size_t kPointBytes = 2;
  constexpr std::size_t kNodeBytes = 5;
  constexpr std::size_t kPolygonBytes = 2 + 3 * kPointBytes;
  return (route.path.points.size() + route.surface.size()) * kPointBytes + route.nodes.size() * kNodeBytes +
         route.corridor.size() + route.polygons.size() * kPolygonBytes;
}

void AddSearchEvent(const core::SearchEvent& event, absl::Span<const std::string> maps,
                    const HexCoordinates& coordinates, v1::TraceSearchResponse& message) {
  v1::SearchEvent& out = *message.add_events();
  FillStep(event, out);
  FillCell(coordinates.FromPlane(event.cell), *out.mutable_cell());
  if (out.kind() == v1::SearchEvent::KIND_GENERATED && event.parent != event.cell) {
    FillCell(coordinates.FromPlane(event.parent), *out.mutable_parent());
  }
  if (event.map != 0) {
    out.set_map(maps[event.map]);
  }
}

void AddNodeEvent(const core::NodeEvent& event, const ToldNode& node, const ToldNode& parent,
                  v1::TraceSearchResponse& message) {
  v1::SearchEvent& out = *message.add_events();
  FillStep(event, out);
  out.set_node(node.id);
  if (out.kind() == v1::SearchEvent::KIND_GENERATED) {
    FillPosition(node.position, *out.mutable_position());
    if (event.parent != event.node) {
      out.set_parent_node(parent.id);
    }
  }
}

void AddIntervalEvent(const core::IntervalEvent& event, const core::TracedInterval& interval,
                      v1::TraceSearchResponse& message) {
  v1::SearchEvent& out = *message.add_events();
  out.set_kind(FromKind(event.kind));
  out.set_g(interval.g);
  out.set_f(interval.f);
  v1::MeshInterval& told = *out.mutable_interval();
  told.set_id(event.interval + 1);
  if (event.kind == core::SearchEvent::Kind::kExpanded) {
    return;
  }
  if (interval.parent != core::MeshInterval::kNoParent) {
    told.set_parent(interval.parent + 1);
  }
  told.set_polygon(interval.polygon);
  FillPosition(interval.left, *told.mutable_left());
  FillPosition(interval.right, *told.mutable_right());
  FillPosition(interval.root, *told.mutable_root());
}

}  // namespace waystar::rpc
