#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/animation/film.h"
#include "client/cli/arguments.h"
#include "client/cli/completion/command_tree.h"
#include "client/cli/files.h"
#include "client/cli/find_text.h"
#include "client/cli/query_arguments.h"
#include "client/cli/shape_argument.h"
#include "server/render/file/picture_file.h"

namespace waystar::cli {
namespace {

// Margins around each map, and between maps.
constexpr int kAcross = 24;
constexpr int kBetween = 18;
constexpr int kAbove = 90;
constexpr int kSmallestSide = 16;
constexpr int kLargestSide = 4096;
constexpr std::size_t kMaxSearches = 3;
constexpr std::size_t kMegabyte = 1 << 20;

struct AnimateArguments {
  v1::FindPathRequest query;
  // Algorithms of the additional searches.
  std::vector<v1::Algorithm> beside;
  std::string file;
  int width = 960;
  int height = 720;
  std::size_t max_frames = 160;
  double max_megabytes = 5.0;
};

// No event tells where a node lies that the search did not come to: asks the server, so that the goal is
// drawn.
void LocateGoal(animation::TracedSearch& search, Session& session) {
  v1::Location& goal = *search.query.mutable_goals(0);
  const auto is_goal = [&goal](const v1::SearchEvent& event) { return event.node() == goal.node(); };
  if (!goal.has_node() || std::any_of(search.events.begin(), search.events.end(), is_goal)) {
    return;
  }
  v1::FindPathRequest request;
  request.set_map(search.query.map());
  *request.mutable_start() = goal;
  *request.add_goals() = goal;
  const auto found = session.client().FindPath(request);
  if (found.ok() && found->path().positions_size() > 0) {
    *goal.mutable_position() = found->path().positions(0);
  }
}

// Fetches the graph data for drawing a search on a graph. Errors are ignored.
void AskAboutGraph(animation::TracedSearch& search, Session& session) {
  v1::GetMapRequest request;
  request.set_map(search.query.map());
  if (const auto got = session.client().GetMap(request); got.ok()) {
    search.graph_nodes = static_cast<std::size_t>(got->info().graph().nodes());
  }
  LocateGoal(search, session);
}

absl::StatusOr<animation::TracedSearch> Trace(const v1::FindPathRequest& query, v1::Algorithm algorithm,
                                              Session& session) {
  v1::TraceSearchRequest request;
  *request.mutable_query() = query;
  request.mutable_query()->set_algorithm(algorithm);
  request.set_max_events(1'000'000);
  animation::TracedSearch search;
  auto result = session.client().TraceSearch(
      request, [&search](const v1::SearchEvent& event) { search.events.push_back(event); });
  if (!result.ok()) {
    return result.status();
  }
  if (result->truncated()) {
    session.io().err
        << "waystar: only the first events of a search are shown, for it has more than 1000000\n";
  }
  search.query = query;
  search.name = AlgorithmName(result->answer().info().statistics().algorithm());
  search.name.front() = absl::ascii_toupper(static_cast<unsigned char>(search.name.front()));
  search.answer = std::move(*result->mutable_answer());
  search.on_graph = IsOnGraph(query, search.answer);
  search.on_mesh = IsOnMesh(search.answer);
  if (search.on_graph) {
    AskAboutGraph(search, session);
  }
  return search;
}

absl::StatusOr<v1::RenderMapResponse> RenderBase(const AnimateArguments& arguments, std::size_t searches,
                                                 double scale, Session& session) {
  const int between = kAcross + kBetween * static_cast<int>(searches - 1);
  const auto side = [scale](int pixels) {
    return std::clamp(static_cast<int>(pixels * scale), kSmallestSide, kLargestSide);
  };
  v1::RenderMapRequest request;
  request.set_map(arguments.query.map());
  request.set_labels(false);
  request.set_legend(false);
  request.set_max_width(side((arguments.width - between) / static_cast<int>(searches)));
  request.set_max_height(side(arguments.height - kAbove));
  return session.client().RenderMap(request);
}

picture::Point ToPoint(const v1::PicturePoint& point) { return {point.x(), point.y()}; }

picture::Tiling ToTiling(const v1::PicturePlacement& placement) {
  return {.zero = ToPoint(placement.zero()),
          .x_step = ToPoint(placement.x_step()),
          .y_step = ToPoint(placement.y_step()),
          .hexagons = placement.hexagons()};
}

absl::StatusOr<std::string> Encode(const AnimateArguments& arguments, const animation::Animation& film) {
  return absl::EndsWithIgnoreCase(arguments.file, ".webp") ? animation::EncodeWebp(film)
                                                           : animation::EncodeGif(film);
}

bool IsByColumns(v1::HexLayout layout) {
  return layout == v1::HEX_LAYOUT_ODD_COLUMNS || layout == v1::HEX_LAYOUT_EVEN_COLUMNS;
}

// How far the hexagons of a row, or a column, have moved on the plane since the one of number 0: rounded
// down, below zero too.
int MovedBy(v1::HexLayout layout, int line) {
  const bool is_even = layout == v1::HEX_LAYOUT_EVEN_ROWS || layout == v1::HEX_LAYOUT_EVEN_COLUMNS;
  return (line + (is_even ? 1 : 0)) >> 1;
}

bool HasOffsets(v1::HexLayout layout) {
  return IsByColumns(layout) || layout == v1::HEX_LAYOUT_ODD_ROWS || layout == v1::HEX_LAYOUT_EVEN_ROWS;
}

// Returns the axial coordinates of a cell, counted from column 0 of row 0. Cells of a layout without columns
// and rows stay as they are.
v1::Cell AxialOf(v1::HexLayout layout, const v1::Cell& cell) {
  v1::Cell axial = cell;
  if (!HasOffsets(layout)) {
    return axial;
  }
  if (IsByColumns(layout)) {
    axial.set_y(cell.y() - MovedBy(layout, cell.x()));
  } else {
    axial.set_x(cell.x() - MovedBy(layout, cell.y()));
  }
  return axial;
}

// Pictures of hexagons are laid out by axial coordinates.
void MoveToAxial(v1::HexLayout layout, animation::TracedSearch& search) {
  const auto move = [layout](v1::Cell& cell) { cell = AxialOf(layout, cell); };
  const auto move_place = [&move](v1::Location& place) {
    if (place.has_cell()) {
      move(*place.mutable_cell());
    }
  };
  move_place(*search.query.mutable_start());
  absl::c_for_each(*search.query.mutable_goals(), move_place);
  for (v1::SearchEvent& event : search.events) {
    move(*event.mutable_cell());
    if (event.has_parent()) {
      move(*event.mutable_parent());
    }
  }
  v1::FindPathResponse& answer = search.answer;
  move_place(*answer.mutable_path()->mutable_start());
  move_place(*answer.mutable_path()->mutable_end());
  absl::c_for_each(*answer.mutable_path()->mutable_points(), move);
  for (v1::PortalCrossing& crossing : *answer.mutable_path()->mutable_crossings()) {
    move(*crossing.mutable_arrival());
  }
}

struct Film {
  animation::Animation animation;
  std::string bytes;
};

// With fewer frames, then smaller, until the file is small enough.
absl::StatusOr<Film> MakeFilm(const AnimateArguments& arguments,
                              const std::vector<animation::TracedSearch>& searches, Session& session) {
  constexpr std::size_t kFewFrames = 40;
  constexpr double kSmallestScale = 0.2;
  const auto max_bytes = static_cast<std::size_t>(arguments.max_megabytes * kMegabyte);
  std::size_t frames = arguments.max_frames;
  double scale = 1.0;
  while (true) {
    const auto base = RenderBase(arguments, searches.size(), scale, session);
    if (!base.ok()) {
      return base.status();
    }
    const auto map = picture::DecodePng(base->image());
    if (!map.ok()) {
      return map.status();
    }
    v1::HexLayout layout = v1::HEX_LAYOUT_UNSPECIFIED;
    if (base->placement().hexagons()) {
      const auto& info = session.InfoOf(arguments.query.map());
      if (!info.ok()) {
        return info.status();
      }
      layout = info->grid().hexagons().layout();
    }
    std::vector<animation::SearchPanel> panels;
    panels.reserve(searches.size());
    for (animation::TracedSearch search : searches) {
      MoveToAxial(layout, search);
      for (const v1::PlacedNode& node : base->placement().nodes()) {
        search.places[node.node()] = ToPoint(node.point());
      }
      panels.emplace_back(std::move(search), *map, ToTiling(base->placement()));
    }
    Film film{.animation = animation::FilmOf(std::move(panels), frames)};
    auto bytes = Encode(arguments, film.animation);
    if (!bytes.ok()) {
      return bytes.status();
    }
    film.bytes = *std::move(bytes);
    if (film.bytes.size() <= max_bytes || scale < kSmallestScale) {
      return film;
    }
    if (frames > kFewFrames) {
      frames /= 2;
    } else {
      scale *= 0.75;
    }
  }
}

ExitCode Animate(const AnimateArguments& arguments, Session& session) {
  if (!absl::EndsWithIgnoreCase(arguments.file, ".gif") &&
      !absl::EndsWithIgnoreCase(arguments.file, ".webp")) {
    return session.FailUsage("the file's name must end in .gif or .webp");
  }
  if (arguments.beside.size() >= kMaxSearches) {
    return session.FailUsage("at most two searches fit beside the first");
  }
  std::vector<v1::Algorithm> algorithms = {arguments.query.algorithm()};
  algorithms.insert(algorithms.end(), arguments.beside.begin(), arguments.beside.end());
  std::vector<animation::TracedSearch> searches;
  for (const v1::Algorithm algorithm : algorithms) {
    auto search = Trace(arguments.query, algorithm, session);
    if (!search.ok()) {
      return session.Fail(search.status());
    }
    if (search->on_mesh && !arguments.beside.empty()) {
      return session.FailUsage(
          "Polyanya alone searches navigation meshes: there is no other algorithm to be seen beside it");
    }
    searches.push_back(*std::move(search));
  }
  const auto film = MakeFilm(arguments, searches, session);
  if (!film.ok()) {
    return session.Fail(film.status());
  }
  if (const absl::Status written = WriteOutput(arguments.file, film->bytes); !written.ok()) {
    return session.FailUsage(std::string(written.message()));
  }
  if (session.options().json) {
    v1::FindPathsResponse answers;
    for (const animation::TracedSearch& search : searches) {
      *answers.add_results()->mutable_answer() = search.answer;
    }
    answers.mutable_info()->mutable_version()->set_revision(
        searches.front().answer.info().version().revision());
    session.PrintJson(answers);
    return ExitCodeFor(searches.front().answer.outcome());
  }
  session.io().out << "Wrote " << arguments.file << ": " << film->animation.frames.size() << " frames of "
                   << film->animation.width << " x " << film->animation.height << ", " << film->bytes.size()
                   << " bytes.\n";
  for (const animation::TracedSearch& search : searches) {
    session.io().out << FindText(search.query, search.answer) << "\n";
  }
  return ExitCodeFor(searches.front().answer.outcome());
}

}  // namespace

void AddAnimateCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<AnimateArguments>();
  CLI::App& command =
      AddCommand(parent, session, "animate", "Makes a moving picture of a search, or of several side by side",
                 arguments, &Animate);
  AddQuery(command, arguments->query);
  AddChoice<v1::Algorithm>(
      command, "--beside", [arguments](v1::Algorithm algorithm) { arguments->beside.push_back(algorithm); },
      AlgorithmChoices(), "Another algorithm, to be seen beside the first; up to two", true)
      ->type_name("ALGORITHM");
  command.add_option("-o,--output", arguments->file, "The file to write: .gif or .webp")
      ->required()
      ->type_name(kFileType);
  AddParsed(
      command, "--size", &ParseSize,
      [arguments](const v1::BlankGrid& size) {
        arguments->width = std::clamp(size.width(), 64, kLargestSide);
        arguments->height = std::clamp(size.height(), 128, kLargestSide);
      },
      "How large it may be, in pixels [960x720]")
      ->type_name("WxH");
  command.add_option("--frames", arguments->max_frames, "How many frames it may have [160]")
      ->check(CLI::Range(2, 1000).description(""))
      ->type_name("N");
  command
      .add_option("--max-megabytes", arguments->max_megabytes,
                  "How large the file may be; there are fewer frames, and then smaller ones, if need be [5]")
      ->check(CLI::Range(0.05, 1000.0).description(""))
      ->type_name("MB");
  command.footer(
      "All searches expand as much from one frame to the next, so that one that needs less ends first.\n"
      "Waypoint graphs are searched by astar and dijkstra, and navigation meshes by polyanya alone.\n\n"
      "Examples:\n"
      "  waystar animate arena 1,1 60,40 --algorithm astar --beside dijkstra --beside jump-point -o "
      "three.webp\n"
      "  waystar animate islands harbour lighthouse --algorithm astar --beside dijkstra -o beside.gif\n"
      "  waystar animate keep 2,2,0 2,3,4 -o keep.gif\n");
}

}  // namespace waystar::cli
