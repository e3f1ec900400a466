#include <algorithm>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/arguments.h"
#include "client/cli/find_text.h"
#include "client/cli/map_picture.h"
#include "client/cli/message_text.h"
#include "client/cli/query_arguments.h"
#include "client/cli/shape_argument.h"
#include "client/cli/table.h"

namespace waystar::cli {
namespace {

// A request whose answer is drawn where it is about cells.
template <typename Request>
struct Drawn {
  Request request;
  DrawOptions draw;
};

std::vector<v1::Cell> CellsOf(const v1::FindReachableResponse& answer) {
  const v1::Rectangle& bounds = answer.bounds();
  const size_t row_bytes = (static_cast<size_t>(bounds.width()) + 7) / 8;
  std::vector<v1::Cell> cells;
  for (int y = 0; y < bounds.height(); ++y) {
    for (int x = 0; x < bounds.width(); ++x) {
      const size_t byte = static_cast<size_t>(y) * row_bytes + static_cast<size_t>(x / 8);
      if (byte < answer.cells().size() &&
          (static_cast<unsigned char>(answer.cells()[byte]) >> (x % 8) & 1) != 0) {
        v1::Cell& cell = cells.emplace_back();
        cell.set_x(bounds.x() + x);
        cell.set_y(bounds.y() + y);
      }
    }
  }
  return cells;
}

// Returns whether the map is a mesh. Only there and on graphs a place may be a position.
bool IsMeshMap(Session& session, const std::string& map, bool has_position) {
  if (!has_position) {
    return false;
  }
  const auto& info = session.InfoOf(map);
  return info.ok() && info->has_mesh();
}

bool HavePosition(const google::protobuf::RepeatedPtrField<v1::Location>& places) {
  return absl::c_any_of(places, [](const v1::Location& place) { return place.has_position(); });
}

std::string AtRevision(const auto& answer) {
  return absl::StrCat(" (revision ", answer.info().version().revision(), ")\n");
}

// Prints a table of nodes or polygons by rising cost, and returns their number, such as "2 nodes".
template <typename Part>
std::string ListByCost(const google::protobuf::RepeatedPtrField<Part>& parts, absl::string_view noun,
                       Session& session) {
  std::vector<const Part*> sorted(parts.pointer_begin(), parts.pointer_end());
  std::ranges::stable_sort(sorted, {}, [](const Part* part) { return part->cost(); });
  session.PrintTable(TableOf({sorted.begin(), sorted.end()}));
  return Counted(parts.size(), noun);
}

std::string ListPartsByCost(const auto& answer, bool is_on_mesh, Session& session) {
  return is_on_mesh ? ListByCost(answer.polygons(), "polygon", session)
                    : ListByCost(answer.nodes(), "node", session);
}

// Costs are listed on graphs and meshes alone, where no place is a cell.
ExitCode Reach(const Drawn<v1::FindReachableRequest>& arguments, Session& session) {
  v1::FindReachableRequest request = arguments.request;
  const bool is_on_mesh = IsMeshMap(session, request.map(), request.start().has_position());
  request.set_with_costs(request.start().has_node() || is_on_mesh);
  return session.Answer(session.client().FindReachable(request), [&](const auto& answer) {
    if (is_on_mesh || !answer.has_bounds()) {
      const std::string count = ListPartsByCost(answer, is_on_mesh, session);
      session.io().out << count << " within reach" << AtRevision(answer);
      return;
    }
    MapPicture picture{.legend = "S start  * within reach"};
    picture.request.set_map(request.map());
    for (const v1::Cell& cell : CellsOf(answer)) {
      picture.marks.push_back({.cell = cell, .symbol = '*'});
    }
    if (request.start().has_cell()) {
      picture.marks.push_back({.cell = request.start().cell(), .symbol = 'S'});
    }
    ShowPicture(picture, answer.info().version(), "answer", arguments.draw, session);
    const v1::Rectangle& bounds = answer.bounds();
    session.io().out << absl::StreamFormat(
        "%s within reach, x %d to %d and y %d to %d%s", Counted(answer.count(), "cell"), bounds.x(),
        bounds.x() + bounds.width() - 1, bounds.y(), bounds.y() + bounds.height() - 1, AtRevision(answer));
  });
}

ExitCode CheckReachability(const v1::CheckReachabilityRequest& request, Session& session) {
  if (!request.pairs().empty() && !request.pairs().rbegin()->has_goal()) {
    return session.FailUsage("places come in pairs, START GOAL: the last one has no GOAL");
  }
  const auto response = session.client().CheckReachability(request);
  const bool are_all = response.ok() && absl::c_all_of(response->reachable(), [](bool is) { return is; });
  const auto print = [&](const v1::CheckReachabilityResponse& answer) {
    std::vector<TableRow> rows = {{"START", "GOAL", "REACHABLE"}};
    for (int i = 0; i < request.pairs_size() && i < answer.reachable_size(); ++i) {
      const v1::LocationPair& pair = request.pairs(i);
      rows.push_back(
          {FormatLocation(pair.start()), FormatLocation(pair.goal()), answer.reachable(i) ? "yes" : "no"});
    }
    session.PrintTable(rows);
  };
  return session.Answer(response, print, are_all ? ExitCode::kOk : ExitCode::kNoPath);
}

struct MovesArguments {
  v1::CheckMovesRequest request;
  // FROM, TO and TIME of each move.
  std::vector<std::string> words;
};

absl::Status AddMoves(const std::vector<std::string>& words, v1::CheckMovesRequest& request) {
  if (words.size() % 3 != 0) {
    return absl::InvalidArgumentError("a move is FROM TO TIME: the last one is incomplete");
  }
  for (std::size_t i = 0; i < words.size(); i += 3) {
    const auto from = ParsePlace(words[i]);
    const auto to = ParsePlace(words[i + 1]);
    const auto time = ParseTimeout(words[i + 2]);
    if (!from.ok() || !to.ok() || !time.ok()) {
      return !from.ok() ? from.status() : !to.ok() ? to.status() : time.status();
    }
    v1::MoveToCheck& move = *request.add_moves();
    *move.mutable_from() = *from;
    *move.mutable_to() = *to;
    *move.mutable_elapsed() = ToMessage(*time);
  }
  return absl::OkStatus();
}

// "too fast", "blocked by crane", or "ok 300ms ago".
std::string VerdictText(const v1::MoveJudgement& judged) {
  return absl::StrCat(
      EnumText(judged.verdict()), judged.obstacle().empty() ? "" : " by ", judged.obstacle(),
      judged.has_judged_back() ? absl::StrCat(" ", MessageText(judged.judged_back()), " ago") : "");
}

ExitCode CheckMoves(const MovesArguments& arguments, Session& session) {
  v1::CheckMovesRequest request = arguments.request;
  if (const absl::Status status = AddMoves(arguments.words, request); !status.ok()) {
    return session.FailUsage(status);
  }
  const auto response = session.client().CheckMoves(request);
  const bool are_ok = response.ok() && absl::c_all_of(response->results(), [](const auto& judged) {
                        return judged.verdict() == v1::MOVE_VERDICT_OK;
                      });
  const auto print = [&](const v1::CheckMovesResponse& answer) {
    const auto place = [](bool is_given, const v1::Location& at) {
      return is_given ? FormatLocation(at) : "-";
    };
    std::vector<TableRow> rows = {{"FROM", "TO", "TIME", "VERDICT", "LEAST", "BLOCKED AT", "PUT AT"}};
    for (int i = 0; i < request.moves_size() && i < answer.results_size(); ++i) {
      const v1::MoveToCheck& move = request.moves(i);
      const v1::MoveJudgement& judged = answer.results(i);
      rows.push_back({FormatLocation(move.from()), FormatLocation(move.to()),
                      absl::FormatDuration(DurationOf(move.elapsed())), VerdictText(judged),
                      judged.has_least_time() ? MessageText(judged.least_time()) : "-",
                      place(judged.has_blocked_at(), judged.blocked_at()),
                      place(judged.has_nearest(), judged.nearest())});
    }
    session.PrintTable(rows);
  };
  return session.Answer(response, print, are_ok ? ExitCode::kOk : ExitCode::kNoPath);
}

// Every cell of the field that has a direction, with it.
std::vector<MarkedCell> ArrowsOf(const v1::ComputeFlowFieldResponse& answer) {
  const v1::Rectangle& region = answer.region();
  std::vector<MarkedCell> arrows;
  for (size_t i = 0; i < answer.directions().size() && region.width() > 0; ++i) {
    const int direction = answer.directions()[i];
    if (direction == v1::DIRECTION_UNSPECIFIED || !v1::Direction_IsValid(direction)) {
      continue;
    }
    v1::Cell cell;
    cell.set_x(region.x() + static_cast<int>(i % static_cast<size_t>(region.width())));
    cell.set_y(region.y() + static_cast<int>(i / static_cast<size_t>(region.width())));
    arrows.push_back({.cell = cell, .direction = static_cast<v1::Direction>(direction)});
  }
  return arrows;
}

// "Portals: 2,1 -stairs-> 4,1".
std::string PortalsText(const v1::ComputeFlowFieldResponse& answer) {
  return absl::StrCat(
      "Portals: ", absl::StrJoin(answer.portals(), ", ", [](std::string* out, const auto& step) {
        absl::StrAppend(out, FormatCell(step.cell()), " -", step.portal(), "-> ", FormatCell(step.arrival()));
      }));
}

ExitCode Flow(const Drawn<v1::ComputeFlowFieldRequest>& arguments, Session& session) {
  v1::ComputeFlowFieldRequest request = arguments.request;
  const bool is_on_mesh = IsMeshMap(session, request.map(), HavePosition(request.goals()));
  request.set_with_costs(is_on_mesh || std::ranges::any_of(request.goals(), [](const v1::Location& goal) {
                           return goal.has_node();
                         }));
  return session.Answer(session.client().ComputeFlowField(request), [&](const auto& answer) {
    if (is_on_mesh || !answer.has_region()) {
      const std::string count = ListPartsByCost(answer, is_on_mesh, session);
      session.io().out << "Ways to a goal from " << count << AtRevision(answer);
      return;
    }
    MapPicture picture{.marks = ArrowsOf(answer), .legend = "G goal  ^ / > \\ v < ways to a goal"};
    const auto cells = std::ssize(picture.marks) + answer.portals_size();
    picture.request.set_map(request.map());
    for (const v1::Location& goal : request.goals()) {
      if (goal.has_cell()) {
        picture.marks.push_back({.cell = goal.cell(), .symbol = 'G'});
      }
    }
    ShowPicture(picture, answer.info().version(), "answer", arguments.draw, session);
    session.io().out << "Ways to a goal from " << Counted(cells, "cell") << " of " << answer.region().width()
                     << " x " << answer.region().height() << AtRevision(answer);
    if (answer.portals_size() > 0) {
      session.io().out << PortalsText(answer) << "\n";
    }
  });
}

// Writes a cost; "-" for the negative one of a way that there is not.
std::string CostText(double cost) { return cost < 0 ? "-" : absl::StrFormat("%.10g", cost); }

ExitCode Matrix(const v1::ComputeCostMatrixRequest& request, Session& session) {
  return session.Answer(session.client().ComputeCostMatrix(request), [&](const auto& answer) {
    std::vector<TableRow> rows(1, {"FROM"});
    for (const v1::Location& goal : request.goals()) {
      rows.front().push_back(FormatLocation(goal));
    }
    int next = 0;
    for (const v1::Location& start : request.starts()) {
      TableRow& row = rows.emplace_back(1, FormatLocation(start));
      for (int i = 0; i < request.goals_size() && next < answer.costs_size(); ++i) {
        row.push_back(CostText(answer.costs(next++)));
      }
    }
    session.PrintTable(rows);
  });
}

// Says what is in the way of a ray: " by 3,0", or " by crane after 0.25 of the way". On a graph what has no
// name may be a cell of the reference map, or the area that the question itself blocks.
std::string ObstructionText(const v1::CastRayRequest& request, const v1::CastRayResponse& answer,
                            bool is_on_mesh) {
  if (!is_on_mesh && answer.has_cell()) {
    return absl::StrCat(" by ", FormatCell(answer.cell()));
  }
  if (is_on_mesh && answer.fraction() == 1) {
    return ": it arrives on another floor";
  }
  std::string by;
  if (!is_on_mesh && !answer.obstacle().empty()) {
    by = absl::StrCat(" by ", answer.obstacle());
  } else if (!is_on_mesh && !request.view().overlay().has_blocked()) {
    by = " by a cell of the reference map";
  }
  return absl::StrFormat("%s after %.6g of the way", by, answer.fraction());
}

ExitCode Ray(const v1::CastRayRequest& request, Session& session) {
  const bool is_on_mesh =
      IsMeshMap(session, request.map(), request.from().has_position() || request.to().has_position());
  const auto response = session.client().CastRay(request);
  const bool is_blocked = response.ok() && response->blocked();
  const auto print = [&](const v1::CastRayResponse& answer) {
    if (is_blocked) {
      session.io().out << "Blocked" << ObstructionText(request, answer, is_on_mesh) << ", at "
                       << FormatPosition(answer.position()) << AtRevision(answer);
    } else {
      session.io().out << "Free" << AtRevision(answer);
    }
  };
  return session.Answer(response, print, is_blocked ? ExitCode::kNoPath : ExitCode::kOk);
}

ExitCode Sample(const v1::SamplePlacesRequest& request, Session& session) {
  return session.Answer(session.client().SamplePlaces(request), [&](const auto& answer) {
    for (const v1::Cell& cell : answer.cells()) {
      session.io().out << FormatCell(cell) << "\n";
    }
    for (const std::string& node : answer.nodes()) {
      session.io().out << node << "\n";
    }
    for (const v1::EdgePoint& point : answer.points()) {
      session.io().out << absl::StreamFormat("%s on %s -> %s, %.6g of it\n", FormatPosition(point.position()),
                                             point.edge().from(), point.edge().to(), point.fraction());
    }
    for (const v1::Position& position : answer.positions()) {
      session.io().out << FormatPosition(position) << "\n";
    }
  });
}

// Says what a probe of a surface has found.
std::string SurfaceText(const v1::SurfaceProbe& probe, const v1::SurfaceResult& result) {
  if (!result.found()) {
    return "No surface of the mesh is there, or near enough";
  }
  const std::string end = absl::StrCat(FormatPosition(result.end()), " in polygon ", result.polygon());
  const std::string wall =
      absl::StrCat(" a wall that faces ",
                   absl::StrFormat("%.6g,%.6g", result.wall_normal().x(), result.wall_normal().y()));
  switch (probe.question_case()) {
    case v1::SurfaceProbe::kMoveTo:
      return absl::StrCat("Comes to ", end, result.blocked() ? absl::StrCat(", stopped by", wall) : "");
    case v1::SurfaceProbe::kRayTo:
      return result.blocked()
                 ? absl::StrFormat("Blocked after %.6g, at %s, by%s", result.distance(), end, wall)
                 : absl::StrCat("Free, to ", end);
    case v1::SurfaceProbe::kWallWithin:
      return result.blocked() ? absl::StrFormat("%.6g to%s, at %s", result.distance(), wall, end)
                              : std::string("No wall is so near");
    case v1::SurfaceProbe::QUESTION_NOT_SET:
      break;
  }
  return absl::StrCat("On the mesh at ", end);
}

ExitCode Probe(const v1::ProbeSurfaceRequest& request, Session& session) {
  const auto response = session.client().ProbeSurface(request);
  const bool is_found = response.ok() && response->results_size() > 0 && response->results(0).found();
  const auto print = [&](const v1::ProbeSurfaceResponse& answer) {
    if (!answer.results().empty()) {
      session.io().out << SurfaceText(request.probes(0), answer.results(0)) << AtRevision(answer);
    }
  };
  return session.Answer(response, print, is_found ? ExitCode::kOk : ExitCode::kNoPath);
}

// "obstacle gate", or "edge ford -> bridge".
std::string BlockerText(const v1::Blocker& blocker) {
  switch (blocker.blocker_case()) {
    case v1::Blocker::kObstacle:
      return absl::StrCat("obstacle ", blocker.obstacle());
    case v1::Blocker::kOverlay:
      return "the blocked area";
    case v1::Blocker::kNameless:
      return "obstacles without a name";
    case v1::Blocker::kTerrain:
      return absl::StrCat("terrain ", blocker.terrain());
    case v1::Blocker::kNode:
      return absl::StrCat("node ", blocker.node());
    case v1::Blocker::kEdge:
      return absl::StrCat("edge ", blocker.edge().from(), " -> ", blocker.edge().to());
    case v1::Blocker::kPortal:
      return absl::StrCat("portal ", blocker.portal());
    case v1::Blocker::BLOCKER_NOT_SET:
      break;
  }
  return "-";
}

void PrintExplanation(const v1::ExplainPathRequest& request, const v1::ExplainPathResponse& answer,
                      Session& session) {
  std::ostream& out = session.io().out;
  if (answer.outcome() != v1::OUTCOME_FOUND) {
    out << "No path leads there, whatever is removed" << AtRevision(answer);
    return;
  }
  if (answer.blockers().empty()) {
    out << "Nothing blocks a path of cost " << CostText(answer.cost()) << AtRevision(answer);
    return;
  }
  std::vector<TableRow> rows = {{"BLOCKED BY", "AT", "PRICE"}};
  for (const v1::Blocker& blocker : answer.blockers()) {
    rows.push_back({BlockerText(blocker), FormatLocation(blocker.entry()), CostText(blocker.price())});
  }
  out << "Blocked: a path of cost " << CostText(answer.cost()) << " enters "
      << Counted(answer.blockers_size(), "blocker") << " at a price of " << CostText(answer.price())
      << AtRevision(answer);
  session.PrintTable(rows);
  v1::FindPathRequest query;
  *query.mutable_start() = request.start();
  *query.add_goals() = request.goal();
  v1::FindPathResponse found;
  *found.mutable_info() = answer.info();
  *found.mutable_path() = answer.path();
  out << PathText(query, found) << "\n";
}

ExitCode Explain(const v1::ExplainPathRequest& request, Session& session) {
  const auto response = session.client().ExplainPath(request);
  const bool is_open =
      response.ok() && response->outcome() == v1::OUTCOME_FOUND && response->blockers().empty();
  const auto print = [&](const v1::ExplainPathResponse& answer) {
    PrintExplanation(request, answer, session);
  };
  return session.Answer(response, print, is_open ? ExitCode::kOk : ExitCode::kNoPath);
}

constexpr char kFromHelp[] = "Where to start from: the cell X,Y, or a node of a waypoint graph";
constexpr char kToHelp[] = "Where to go to: the cells X,Y, or nodes of a waypoint graph";

void AddReachCommand(CLI::App& parent, Session& session) {
  const auto [command, arguments] =
      AddCommand(parent, session, "reach",
                 "Finds and draws all cells within a cost of one, or lists nodes or polygons", &Reach,
                 "Examples:\n"
                 "  waystar reach arena 10,5 --max-cost 6\n"
                 "  waystar reach arena --start-position 3.5,-2 --snap 1.5 --max-cost 6\n"
                 "  waystar reach islands harbour --max-cost 10\n");
  v1::FindReachableRequest& request = arguments.request;
  AddMap(command, request);
  AddPlaces(command, "START", "--start-position", PlaceIn(request, "start"), kFromHelp);
  command.get_option("START")->excludes("--start-position");
  command.parse_complete_callback([&request] { CheckPlace(request.has_start(), "START"); });
  AddQuestion(command, request);
  AddFields(command, request,
            {{"--max-cost", "max_cost", "How much the way there may cost [no limit]", "COST"},
             {"--region", "region", "Do not leave this part of the map [all of it]", "X,Y..X,Y"},
             {"--towards", "towards_start",
              "Cells or nodes from which START is within the cost, instead of the other way round"}});
  AddDrawOptions(command, arguments.draw);
}

void AddReachableCommand(CLI::App& parent, Session& session) {
  const auto [command, request] = AddCommand(
      parent, session, "reachable", "Tells whether paths lead between pairs of places", &CheckReachability,
      "Examples:\n"
      "  waystar reachable arena 1,1 60,40\n"
      "  waystar reachable arena 1,1 60,40 9,30 12,7 --footprint 2\n");
  AddMap(command, request);
  AddQuestion(command, request);
  AddParsedList(
      command, "PLACES", &ParsePlace,
      [&request = request](const v1::Location& place) {
        const bool is_goal = !request.pairs().empty() && !request.pairs().rbegin()->has_goal();
        *(is_goal ? request.mutable_pairs()->rbegin()->mutable_goal()
                  : request.add_pairs()->mutable_start()) = place;
      },
      "START GOAL, each a cell X,Y or a node of a waypoint graph; any number of such pairs")
      ->required();
}

void AddCheckMovesCommand(CLI::App& parent, Session& session) {
  const auto [command, arguments] =
      AddCommand(parent, session, "check-moves",
                 "Judges whether moves were possible in the time that they took", &CheckMoves,
                 "LEAST is the time that each way takes at least, and PUT AT where to put the agent.\n\n"
                 "Examples:\n"
                 "  waystar check-moves arena 1,1 4,1 500ms --speed 6\n"
                 "  waystar check-moves arena 1,1 4,1 500ms 4,1 9,5 1s --speed 6 --time-tolerance 50ms\n");
  v1::CheckMovesRequest& request = arguments.request;
  AddMap(command, request);
  AddQuestion(command, request);
  AddField(command, "--speed", request, "speed",
           "The cost that an agent pays per second: cells, or units, on ground of cost 1")
      ->required();
  AddField(command, "--time-tolerance", request, "time_tolerance",
           "Added to each TIME, for the latency of the network [0]", "TIME");
  command
      .add_option("MOVES", arguments.words,
                  "FROM TO TIME: two places and a length of time such as 500ms; any number of such moves")
      ->required();
}

void AddFlowCommand(CLI::App& parent, Session& session) {
  const auto [command, arguments] = AddCommand(
      parent, session, "flow",
      "Draws which way each cell goes to the nearest of some goals, or lists the ways of nodes or polygons",
      &Flow,
      "In the picture / leads up to the right or down to the left, and \\ up to the left or down to the\n"
      "right: whichever comes nearer to a goal.\n\n"
      "Examples:\n"
      "  waystar flow arena 10,5 40,12 --region 0,0..63,31\n"
      "  waystar flow islands lighthouse\n");
  v1::ComputeFlowFieldRequest& request = arguments.request;
  AddMap(command, request);
  AddPlaces(command, "GOAL", "--goal-position", PlaceIn(request, "goals"), kToHelp, kAnyNumber);
  command.parse_complete_callback([&request] { CheckPlace(!request.goals().empty(), "GOAL"); });
  AddQuestion(command, request);
  AddFields(
      command, request,
      {{"--max-cost", "max_cost", "Leave out cells and nodes whose way costs more [no limit]", "COST"},
       {"--region", "region", "Look at this part of the map, and do not leave it [all of it]", "X,Y..X,Y"}});
  AddDrawOptions(command, arguments.draw);
}

void AddMatrixCommand(CLI::App& parent, Session& session) {
  const auto [command, request] =
      AddCommand(parent, session, "matrix",
                 "Tells what it costs to go from each of some places to each of others", &Matrix,
                 "A - stands where no path leads.\n\n"
                 "Examples:\n"
                 "  waystar matrix arena --from 1,1 9,9 --to 60,40 12,7 3,30\n"
                 "  waystar matrix islands --from harbour ford --to bridge lighthouse\n");
  AddMap(command, request);
  AddPlaces(command, "--from", "--from-position", PlaceIn(request, "starts"),
            "Where to start from: the cells X,Y, or nodes of a waypoint graph", kAnyNumber);
  AddPlaces(command, "--to", "--to-position", PlaceIn(request, "goals"), kToHelp, kAnyNumber);
  command.parse_complete_callback([&request = request] {
    CheckPlace(!request.starts().empty(), "--from");
    CheckPlace(!request.goals().empty(), "--to");
  });
  AddQuestion(command, request);
}

void AddRayCommand(CLI::App& parent, Session& session) {
  const auto [command, request] = AddCommand(
      parent, session, "ray",
      "Tells which blocked cell, or obstacle, a straight line between two places comes to first", &Ray,
      "Examples:\n"
      "  waystar ray arena 1,1 60,40\n"
      "  waystar ray arena 60,40 --from-position 1.25,1\n"
      "  waystar ray islands bridge --from-position 6,1\n");
  AddMap(command, request);
  const auto to = [&request = request]() -> v1::Location& {
    if (request.has_to()) {
      throw CLI::ArgumentMismatch("TO is given twice");
    }
    return *request.mutable_to();
  };
  const auto from = [&request = request, to]() -> v1::Location& {
    if (request.has_from()) {
      // The cell that stands alone beside --from-position is TO.
      to().Swap(request.mutable_from());
    }
    return *request.mutable_from();
  };
  AddPlaces(command, "FROM", "--from-position", from,
            "Where to start from: the centre of the cell X,Y, or a node of a waypoint graph");
  AddPlaces(command, "TO", "--to-position", to,
            "Where to go to: the centre of the cell X,Y, or a node of a waypoint graph");
  command.parse_complete_callback([&request = request] {
    CheckPlace(request.has_from(), "FROM");
    CheckPlace(request.has_to(), "TO");
  });
  AddQuestion(command, request);
}

void AddSampleCommand(CLI::App& parent, Session& session) {
  const auto [command, request] =
      AddCommand(parent, session, "sample", "Draws random cells or nodes that an agent can be on", &Sample,
                 "Examples:\n"
                 "  waystar sample arena --count 5 --distinct --reachable-from 1,1 --region 0,0..20,20\n"
                 "  waystar sample islands --count 3 --along-edges\n");
  request.set_count(1);
  AddMap(command, request);
  AddQuestion(command, request);
  AddFields(command, request,
            {{"--count", "count", "How many to draw [1]"},
             {"--seed", "seed", "The same seed draws the same, as long as the map does not change [0]"}});
  AddPlaces(command, "--reachable-from", "--reachable-from-position", PlaceIn(request, "reachable_from"),
            "Only what a path leads to from here: the cell X,Y, or a node of a waypoint graph");
  command.get_option("--reachable-from")->excludes("--reachable-from-position");
  AddFields(
      command, request,
      {{"--region", "region", "Only what lies in this part of the map [all of it]", "X,Y..X,Y"},
       {"--distinct", "distinct", "No cell or node twice"},
       {"--along-edges", "along_edges", "On a waypoint graph, draw points of edges in place of nodes"}});
  command.get_option("--along-edges")->excludes("--distinct");
}

void AddExplainCommand(CLI::App& parent, Session& session) {
  const auto [command, request] = AddCommand(
      parent, session, "explain", "Tells what blocks the way between two places, and where", &Explain,
      "Examples:\n"
      "  waystar explain arena 1,1 60,40\n"
      "  waystar explain arena 1,1 60,40 --only-obstacles --obstacle-price gate=50 wall=400\n");
  AddMap(command, request);
  AddPlaces(command, "START", "--start-position", PlaceIn(request, "start"), kFromHelp);
  AddPlaces(command, "GOAL", "--goal-position", PlaceIn(request, "goal"),
            "Where to go to: the cell X,Y, or a node of a waypoint graph");
  command.parse_complete_callback([&request = request] {
    CheckPlace(request.has_start(), "START");
    CheckPlace(request.has_goal(), "GOAL");
  });
  AddQuestion(command, request);
  AddFields(command, request,
            {{"--price", "price", "What each entry into a blocker costs [1000]", "COST"},
             {"--obstacle-price", "prices", "What it costs to enter the obstacles whose ids begin with ID",
              "ID=COST"},
             {"--only-obstacles", "only_obstacles", "Pass named obstacles only"}});
}

void AddProbeCommand(CLI::App& parent, Session& session) {
  const auto [command, request] = AddCommand(
      parent, session, "probe",
      "Tells where a position is on a navigation mesh, where a move from there ends, or how near walls are",
      &Probe,
      "Examples:\n"
      "  waystar probe keep 2,3.5 --move-to 4.5,4\n"
      "  waystar probe keep 2,3.5,0 --wall-within 20 --snap 1\n");
  v1::SurfaceProbe& probe = *request.add_probes();
  AddMap(command, request);
  AddFields(command, probe,
            {{"POSITION", "position", "Where to look: X,Y or X,Y,Z"},
             {"--move-to", "move_to", "Walk straight towards this position, and slide along walls"},
             {"--ray-to", "ray_to", "Go in a straight line to this position, up to a wall"},
             {"--wall-within", "wall_within", "Look for the nearest wall, at most so far away"}});
  command.get_option("POSITION")->required();
  command.get_option("--move-to")->excludes("--ray-to", "--wall-within");
  command.get_option("--ray-to")->excludes("--wall-within");
  AddQuestion(command, request);
}

}  // namespace

void AddFieldCommands(CLI::App& parent, Session& session) {
  AddReachCommand(parent, session);
  AddReachableCommand(parent, session);
  AddCheckMovesCommand(parent, session);
  AddFlowCommand(parent, session);
  AddMatrixCommand(parent, session);
  AddRayCommand(parent, session);
  AddSampleCommand(parent, session);
  AddProbeCommand(parent, session);
  AddExplainCommand(parent, session);
}

}  // namespace waystar::cli
