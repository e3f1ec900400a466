// Requests as bytes, one after the other on maps of one server: each is answered, or refused with a canonical
// code and a reason.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/text_format.h"
#include "requests.pb.h"
#include "server/base/error.h"
#include "server/core/query/resolve.h"
#include "server/core/query/route_query.h"
#include "server/core/query/solve.h"
#include "server/core/store/map_store.h"
#include "server/formats/text/text.h"
#include "server/service/admission/executor.h"
#include "server/service/call/call_context.h"
#include "server/service/call/request_parser.h"
#include "server/service/call/status.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_edits.h"
#include "server/service/convert/convert_query.h"
#include "server/service/convert/hex_coordinates.h"
#include "server/service/convert/write_route.h"
#include "server/service/handlers/maps/listings.h"
#include "server/service/handlers/maps/map_creation.h"
#include "server/service/handlers/query/answer_query.h"
#include "server/service/handlers/query/field_answers.h"
#include "server/service/metrics/library_log.h"
#include "tests/fuzz/mutate_message.h"
#include "tests/fuzz/require.h"
#include "tests/testing/random.h"

namespace waystar::fuzz {
namespace {

constexpr int kMaxRequests = 8;
constexpr std::size_t kMaxBytes = 16 * 1024;

// Ids and symbols that the maps have, and some that they have not.
constexpr absl::string_view kWords[] = {
    "squares", "next",  "hexes", "graph", "a",    "b",    "c",    "d",    "e",   "gate",  "stairs", "ferry",
    "crate",   "mud",   "boat",  "cart",  "crab", "~",    "s",    "=",    ".",   "#",     "wide",   "roof",
    "rows",    "blank", "file",  "yard",  "",     "more", "....", "..~.", "one", "No Id", "\xff"};

// Returns true for codes that a request may get; the others say that the server is at fault.
bool IsRefusal(absl::StatusCode code) {
  return code != absl::StatusCode::kInternal && code != absl::StatusCode::kUnknown &&
         code != absl::StatusCode::kDataLoss;
}

constexpr std::size_t kMaxMessageBytes = 64 * 1024;
constexpr std::size_t kScratchBytes = std::size_t{16} << 20;
constexpr std::uint64_t kMaxExpansions = 20'000;
constexpr int kMaxMapSide = 48;
constexpr std::size_t kMaxMaps = 8;

constexpr absl::string_view kSquares =
    "diagonal_cost 1.4\n"
    "world yard\n"
    "terrain ~ water impassable\n"
    "terrain s swamp 2.5\n"
    "terrain = road 0.5\n"
    "profile boat ~ 1 . forbidden\n"
    "profile cart footprint 2 s forbidden\n"
    "map\n"
    "........~~......\n"
    ".####...~~..ss..\n"
    ".#..#...==..ss..\n"
    ".#..#===~~===...\n"
    ".##.....~~.....#\n"
    "....##..~~..##..\n"
    "....##......##..\n"
    "................\n";

constexpr absl::string_view kNext =
    "world yard\n"
    "map\n"
    "......\n"
    ".####.\n"
    "......\n";

constexpr absl::string_view kHexes =
    "hexagons odd_rows\n"
    "terrain ^ hills 2\n"
    "map\n"
    "........\n"
    "..^^#...\n"
    ".#..#.^.\n"
    "...##...\n"
    "........\n";

core::GridMap Parsed(absl::string_view text) {
  absl::StatusOr<core::GridMap> map = core::ParseText(text, {});
  Require(map.ok(), map.status().ToString());
  return *std::move(map);
}

constexpr char kGraph[] = R"(
  map: "graph"
  graph {
    nodes { id: "a" position {} } nodes { id: "b" position { x: 4 } }
    nodes { id: "c" position { x: 4 y: 3 } } nodes { id: "d" position { x: 9 y: 9 } }
    edges { edge { from: "a" to: "b" } } edges { edge { from: "b" to: "c" } }
    auto_connect { max_distance: 5.5 }
  })";

v1::CreateMapRequest Graph() {
  v1::CreateMapRequest request;
  Require(google::protobuf::TextFormat::ParseFromString(kGraph, &request), kGraph);
  return request;
}

core::PutPortal PortalTo(const std::string& id, core::Cell from, const std::string& to_map, core::Cell to) {
  return {.portal = {.id = id, .from = from, .to_map = to_map, .to = to, .cost = core::kCostScale}};
}

// What the maps are made of, read once.
struct Maps {
  core::GridMap squares = Parsed(kSquares);
  core::GridMap next = Parsed(kNext);
  core::GridMap hexes = Parsed(kHexes);
  v1::CreateMapRequest graph = Graph();
  rpc::Workbench bench = rpc::Workbench(kScratchBytes);
};

Maps& TheMaps() {
  static auto* const kMaps = new Maps();
  return *kMaps;
}

core::StoreOptions SmallStore() {
  core::StoreOptions options;
  options.max_maps = kMaxMaps;
  // Requests can name the versions of maps.
  options.new_epoch = [last = std::uint64_t{0}]() mutable { return ++last; };
  return options;
}

template <typename Response, typename Request>
absl::Status Ask(const rpc::FieldAnswers& fields, const Request& request, rpc::CallContext& context) {
  Response response;
  return fields(request, response, context);
}

// The store may be full of what requests have made.
void RequireMade(const absl::Status& status) {
  Require(status.ok() || !ErrorReasonOf(status).empty(), status.ToString());
}

// A server's maps and what serves requests about them, without the RPC library: the functions that check,
// convert and answer requests, called as the handlers call them. It holds small maps: "squares" and "next" of
// one world with terrains, obstacles, profiles and portals, "hexes", and the waypoint graph "graph".
//
// Thread safety: none.
class ServedRequests {
 public:
  ServedRequests();

  // INVALID_ARGUMENT for one that asks nothing.
  absl::Status Serve(const Request& request);

 private:
  absl::Status Find(const v1::FindPathRequest& request);
  absl::Status FindMany(const v1::FindPathsRequest& request);
  absl::Status Trace(const v1::TraceSearchRequest& request);
  absl::Status Create(const v1::CreateMapRequest& request);
  absl::Status Update(const v1::UpdateMapRequest& request);

  template <typename Response, typename Lister, typename Asked>
  absl::Status List(Lister list, const Asked& request) {
    Response response;
    return list(store_, kMaxMessageBytes, request, response);
  }

  core::MapStore store_;
  const rpc::FieldAnswers fields_;
  const rpc::Caller caller_ = rpc::Caller::Anyone();
  rpc::CallContext context_;
};

ServedRequests::ServedRequests()
    : store_(SmallStore()),
      fields_(store_, kMaxMessageBytes),
      context_{.bench = TheMaps().bench, .caller = caller_, .budget = {.max_expansions = kMaxExpansions}} {
  const Maps& maps = TheMaps();
  RequireMade(store_.Create("squares", maps.squares, absl::UnixEpoch()).status());
  RequireMade(store_.Create("next", maps.next, absl::UnixEpoch()).status());
  RequireMade(store_.Create("hexes", maps.hexes, absl::UnixEpoch()).status());
  RequireMade(Create(maps.graph));
  core::UpdateBatch portals;
  portals.edits = {PortalTo("stairs", {0, 0}, "next", {5, 2}), PortalTo("gate", {2, 2}, "", {15, 7})};
  RequireMade(store_.UpdateAndWait("squares", std::move(portals)).status());
}

absl::Status ServedRequests::Serve(const Request& request) {
  switch (request.request_case()) {
    case Request::kFindPath:
      return Find(request.find_path());
    case Request::kFindPaths:
      return FindMany(request.find_paths());
    case Request::kTraceSearch:
      return Trace(request.trace_search());
    case Request::kValidatePaths:
      return Ask<v1::ValidatePathsResponse>(fields_, request.validate_paths(), context_);
    case Request::kCostMatrix:
      return Ask<v1::ComputeCostMatrixResponse>(fields_, request.cost_matrix(), context_);
    case Request::kReachable:
      return Ask<v1::FindReachableResponse>(fields_, request.reachable(), context_);
    case Request::kFlowField:
      return Ask<v1::ComputeFlowFieldResponse>(fields_, request.flow_field(), context_);
    case Request::kReachability:
      return Ask<v1::CheckReachabilityResponse>(fields_, request.reachability(), context_);
    case Request::kRay:
      return Ask<v1::CastRayResponse>(fields_, request.ray(), context_);
    case Request::kSample:
      return Ask<v1::SamplePlacesResponse>(fields_, request.sample(), context_);
    case Request::kCheckMoves:
      return Ask<v1::CheckMovesResponse>(fields_, request.check_moves(), context_);
    case Request::kProbe:
      return Ask<v1::ProbeSurfaceResponse>(fields_, request.probe(), context_);
    case Request::kExplain:
      return Ask<v1::ExplainPathResponse>(fields_, request.explain(), context_);
    case Request::kCreateMap:
      return Create(request.create_map());
    case Request::kUpdate:
      return Update(request.update());
    case Request::kListObstacles:
      return List<v1::ListObstaclesResponse>(&rpc::ListNamedObstacles, request.list_obstacles());
    case Request::kListPortals:
      return List<v1::ListPortalsResponse>(&rpc::ListMapPortals, request.list_portals());
    case Request::kListNodes:
      return List<v1::ListNodesResponse>(&rpc::ListWaypointNodes, request.list_nodes());
    case Request::REQUEST_NOT_SET:
      return rpc::MissingField("request");
  }
  return absl::OkStatus();
}

absl::Status ServedRequests::Find(const v1::FindPathRequest& request) {
  v1::FindPathResponse response;
  return rpc::AnswerFindPath(store_, kMaxMessageBytes, request, response, context_);
}

absl::Status ServedRequests::FindMany(const v1::FindPathsRequest& request) {
  v1::FindPathsResponse response;
  WAYSTAR_RETURN_IF_ERROR(rpc::AnswerQueries(store_, kMaxMessageBytes, request, response, context_));
  Require(response.results_size() == request.queries_size(), "an answer to each query");
  for (const v1::FindPathsResult& result : response.results()) {
    Require(result.has_answer() || result.problem().details_size() > 0, result.ShortDebugString());
  }
  return absl::OkStatus();
}

// As TraceCall does it.
absl::Status ServedRequests::Trace(const v1::TraceSearchRequest& request) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::size_t max_events, rpc::ToMaxEvents(request.max_events(), 1000));
  const v1::FindPathRequest& asked = request.query();
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store_.Pin(asked.map()));
  WAYSTAR_ASSIGN_OR_RETURN(const core::RouteQuery query,
                           rpc::ToRouteQuery(asked, snapshot->id, rpc::HexCoordinates(*snapshot)));
  WAYSTAR_RETURN_IF_ERROR(core::CheckOneGoal(query));
  WAYSTAR_ASSIGN_OR_RETURN(const core::ResolvedRoute resolved,
                           core::Resolve(*snapshot, query, rpc::MapsFor(store_, context_), context_.budget));
  core::SearchRecorder recorder(max_events);
  WAYSTAR_ASSIGN_OR_RETURN(const core::Route route,
                           core::Solve(resolved, context_.budget, context_.bench, &recorder));
  v1::TraceSearchResponse message;
  for (const core::SearchEvent& event : recorder.cells.events()) {
    const std::string& map = recorder.cells.maps()[event.map];
    const rpc::HexCoordinates coordinates(resolved.grid().agent->BoardOf(map));
    rpc::AddSearchEvent(event, recorder.cells.maps(), coordinates, message);
  }
  return rpc::WriteAnswer(route, *snapshot, kMaxMessageBytes, request.query(),
                          *message.mutable_result()->mutable_answer(), context_);
}

// As MapService does it.
absl::Status ServedRequests::Create(const v1::CreateMapRequest& request) {
  WAYSTAR_RETURN_IF_ERROR(store_.CheckCanCreate(request.map()));
  if (request.has_graph()) {
    WAYSTAR_ASSIGN_OR_RETURN(core::WaypointGraph graph, rpc::BuildGraph(store_, request));
    return store_.Create(request.map(), std::move(graph), absl::UnixEpoch()).status();
  }
  WAYSTAR_ASSIGN_OR_RETURN(rpc::MadeMap drawn, rpc::DrawMap(request, kMaxMapSide));
  return std::visit(
      [&](auto& map) { return store_.Create(request.map(), std::move(map), absl::UnixEpoch()).status(); },
      drawn.map);
}

absl::Status ServedRequests::Update(const v1::UpdateMapRequest& request) {
  WAYSTAR_ASSIGN_OR_RETURN(core::UpdateBatch batch, rpc::ToUpdateBatch(store_, request));
  return store_.UpdateAndWait(request.map(), std::move(batch)).status();
}

}  // namespace
}  // namespace waystar::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace waystar;
  using namespace waystar::fuzz;
  if (size > kMaxBytes) {
    return 0;
  }
  rpc::RouteLibraryLog();
  google::protobuf::io::ArrayInputStream bytes(data, static_cast<int>(size));
  static_cast<void>(rpc::WeighRequest(bytes, *Requests::descriptor(), kMaxMessageBytes));
  Requests requests;
  if (!requests.ParseFromArray(data, static_cast<int>(size)) || requests.requests_size() > kMaxRequests) {
    return 0;
  }
  ServedRequests served;
  for (const Request& request : requests.requests()) {
    const absl::Status status = served.Serve(request);
    if (!status.ok()) {
      Require(IsRefusal(status.code()), status.ToString());
      Require(!ErrorReasonOf(status).empty(), status.ToString());
      Require(rpc::ToStatusMessage(status).details_size() > 0, status.ToString());
    }
  }
  return 0;
}

// libFuzzer and the replay of the corpus take this for half of their mutations: of random bytes few are
// requests.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  using namespace waystar::fuzz;
  Requests requests;
  if (!requests.ParsePartialFromArray(data, static_cast<int>(size))) {
    requests.Clear();
  }
  waystar::Random random(seed);
  for (int changes = random.Between(1, 4); changes > 0; --changes) {
    MutateMessage(requests, kWords, random);
  }
  const std::size_t bytes = requests.ByteSizeLong();
  if (bytes > max_size) {
    return size;
  }
  static_cast<void>(requests.SerializeToArray(data, static_cast<int>(bytes)));
  return bytes;
}
