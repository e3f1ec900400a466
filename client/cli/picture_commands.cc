#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/animation/film.h"
#include "client/cli/arguments.h"
#include "client/cli/files.h"
#include "client/cli/find_text.h"
#include "client/cli/map_picture.h"
#include "client/cli/query_arguments.h"
#include "client/cli/shape_argument.h"
#include "server/render/canvas/canvas.h"
#include "server/render/file/picture_file.h"

namespace waystar::cli {
namespace {

struct RenderArguments {
  // Without a format, the file's name says it.
  v1::RenderMapRequest request;
  // Show the picture as half blocks.
  bool blocks = false;
  // Empty for standard output.
  std::string file;
};

// Returns the format given by --format, or else by the file's name; none if neither decides.
v1::PictureFormat FormatOf(const RenderArguments& arguments) {
  if (arguments.request.format() != v1::PICTURE_FORMAT_UNSPECIFIED) {
    return arguments.request.format();
  }
  for (const auto& [ending, format] : {std::pair(".png", v1::PICTURE_FORMAT_PNG),
                                       {".svg", v1::PICTURE_FORMAT_SVG},
                                       {".txt", v1::PICTURE_FORMAT_TEXT}}) {
    if (absl::EndsWithIgnoreCase(arguments.file, ending)) {
      return format;
    }
  }
  return arguments.file.empty() ? v1::PICTURE_FORMAT_TEXT : v1::PICTURE_FORMAT_UNSPECIFIED;
}

// As much as the terminal has room for, where a character shows two pixels of blocks.
void Fit(const Io& io, bool blocks, v1::RenderMapRequest& request) {
  if (request.max_width() == 0) {
    FitWindow(io, request);
    request.set_max_height(request.max_height() * (blocks ? 2 : 1));
  }
  if (blocks) {
    // The rest of the labels would be too small to read.
    request.set_labels(false);
    request.set_legend(false);
  }
}

// 38 for the character, 48 for what lies behind it.
std::string ColorEscape(int what, picture::Color color) {
  return absl::StrFormat("\x1b[%d;2;%d;%d;%dm", what, color.r, color.g, color.b);
}

// For terminals that show 24-bit colours: each character shows two pixels, one above the other.
std::string HalfBlocks(const picture::Canvas& canvas) {
  constexpr char kUpperHalf[] = "\xe2\x96\x80";
  constexpr char kReset[] = "\x1b[0m";
  std::string text;
  for (int y = 0; y < canvas.height(); y += 2) {
    std::optional<picture::Color> above;
    std::optional<picture::Color> below;
    for (int x = 0; x < canvas.width(); ++x) {
      if (above != canvas.At(x, y)) {
        above = canvas.At(x, y);
        text += ColorEscape(38, *above);
      }
      if (y + 1 < canvas.height() && below != canvas.At(x, y + 1)) {
        below = canvas.At(x, y + 1);
        text += ColorEscape(48, *below);
      }
      text += kUpperHalf;
    }
    text += kReset;
    text += '\n';
  }
  return text;
}

bool HasEnds(const v1::FindPathRequest& query) { return query.has_start() || !query.goals().empty(); }

ExitCode Render(const RenderArguments& arguments, Session& session) {
  const v1::PictureFormat format = FormatOf(arguments);
  if (format == v1::PICTURE_FORMAT_UNSPECIFIED) {
    return session.FailUsage(absl::StrCat(
        "what is ", arguments.file, " to be? A name that ends in .png, .svg or .txt tells, or --format"));
  }
  const bool is_file = format != v1::PICTURE_FORMAT_TEXT && !arguments.blocks;
  if (is_file && arguments.file.empty() && session.io().is_terminal) {
    return session.FailUsage(
        "a terminal shows no such file: name one with -o FILE, or ask for --format blocks");
  }
  if (arguments.blocks && session.options().color == ColorChoice::kNever) {
    return session.FailUsage("half blocks are nothing without colours: ask for --format text");
  }
  v1::RenderMapRequest request = arguments.request;
  request.set_map(request.query().map());
  if (!HasEnds(request.query())) {
    request.clear_query();
  }
  request.set_format(format);
  if (arguments.file.empty() && !is_file) {
    Fit(session.io(), arguments.blocks, request);
  }
  auto response = session.client().RenderMap(request);
  if (!response.ok()) {
    return session.Fail(response.status());
  }
  if (!arguments.file.empty()) {
    if (const absl::Status written = WriteOutput(arguments.file, response->image()); !written.ok()) {
      return session.FailUsage(written);
    }
  }
  std::ostream& out = session.io().out;
  if (session.options().json) {
    if (!arguments.file.empty()) {
      response->clear_image();
    }
    session.PrintJson(*response);
  } else if (!arguments.file.empty()) {
    out << "Wrote " << arguments.file << ": " << request.map() << " at revision "
        << response->version().revision() << ", " << response->placement().width() << " x "
        << response->placement().height() << ", " << response->image().size() << " bytes.\n";
  } else if (arguments.blocks) {
    const auto canvas = picture::DecodePng(response->image());
    if (!canvas.ok()) {
      return session.Fail(canvas.status());
    }
    out << HalfBlocks(*canvas);
  } else {
    out << response->image();
  }
  if (!response->has_answer()) {
    return ExitCode::kOk;
  }
  if (!session.options().json && (!arguments.file.empty() || arguments.blocks)) {
    out << FindText(request.query(), response->answer()) << "\n";
  }
  return ExitCodeFor(response->answer().outcome());
}

}  // namespace

void AddRenderCommand(CLI::App& parent, Session& session) {
  const auto [command, arguments] = AddCommand(
      parent, session, "render", "Draws a map, a path and its search as a picture: PNG, SVG or text", &Render,
      "Examples:\n"
      "  waystar render arena 1,1 60,40 --search --algorithm astar -o search.svg\n"
      "  waystar render arena --region 10,10+40x30 --size 800x600 -o part.png\n"
      "  waystar render arena 1,1 60,40 --format blocks\n"
      "  waystar render keep 2,2,0 2,3,4 --oblique -o keep.png\n");
  v1::RenderMapRequest& request = arguments.request;
  AddQuery(command, *request.mutable_query(), kAnyNumber);
  command.parse_complete_callback([&request] {
    if (HasEnds(request.query())) {
      CheckEnds(request.query());
    }
  });
  AddOutput(command, arguments.file,
            "The file to write: .png, .svg or .txt; - is standard output [standard output]");
  AddChoice<std::pair<v1::PictureFormat, bool>>(
      command, "--format",
      [&arguments = arguments](const auto& chosen) {
        arguments.request.set_format(chosen.first);
        arguments.blocks = chosen.second;
      },
      {{"png", {v1::PICTURE_FORMAT_PNG, false}},
       {"svg", {v1::PICTURE_FORMAT_SVG, false}},
       {"text", {v1::PICTURE_FORMAT_TEXT, false}},
       {"blocks", {v1::PICTURE_FORMAT_PNG, true}}},
      "What to draw [what the file's name says, else text]; blocks are for terminals with 24-bit colours");
  AddParsed(
      command, "--region", &ParseMapPart,
      [&request](const MapPart& part) {
        if (const auto* const area = std::get_if<v1::WorldArea>(&part)) {
          *request.mutable_area() = *area;
        } else {
          *request.mutable_region() = std::get<v1::Rectangle>(part);
        }
      },
      "Only this part of the map; of graphs and meshes it may have fractions")
      ->type_name("X,Y+WxH");
  AddParsed(
      command, "--size", &ParseSize,
      [&request](const v1::BlankGrid& size) {
        request.set_max_width(size.width());
        request.set_max_height(size.height());
      },
      "How large the picture may be, in pixels or characters [1024x1024, or what the terminal has room for]")
      ->type_name("WxH");
  AddFields(command, request,
            {{"--heights", "heights",
              "Only polygons of a mesh that have a point at these heights; either is optional", "LOW:HIGH"},
             {"--oblique", "oblique", "Show a mesh from the side, with its floors above each other"},
             {"--search", "with_search", "Draw how the path was searched for"},
             {"--max-events", "max_events", "Draw so many events of the search at the most [1000000]"},
             {"--theme", "theme", "The colours [light]", "light|dark"}});
  command.add_flag_callback(
      "--no-legend", [&request] { request.set_legend(false); }, "Do not explain the colours");
  command.add_flag_callback(
      "--no-labels", [&request] { request.set_labels(false); }, "Draw neither a title nor numbers");
  AddField(command, "--grid-lines", request, "grid_lines",
           "Lines between cells [auto: where cells are large]", "auto=UNSPECIFIED|never|always");
}

namespace {

// Margins around each map, and between maps.
constexpr int kAcross = 24;
constexpr int kBetween = 18;
constexpr int kAbove = 106;
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
    if (const auto& info = session.InfoOf(query.map()); info.ok()) {
      search.graph_nodes = static_cast<std::size_t>(info->graph().nodes());
    }
    LocateGoal(search, session);
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
      search.layout = layout;
      for (const v1::PlacedNode& node : base->placement().nodes()) {
        search.places[node.node()] = ToPoint(node.point());
      }
      panels.emplace_back(std::move(search), *map, ToTiling(base->placement()));
    }
    Film film{.animation = animation::FilmOf(std::move(panels), frames)};
    auto bytes = absl::EndsWithIgnoreCase(arguments.file, ".webp") ? animation::EncodeWebp(film.animation)
                                                                   : animation::EncodeGif(film.animation);
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
  if (arguments.file.empty() && (session.io().is_terminal || session.options().json)) {
    return session.FailUsage("a moving picture cannot stand there: name a file with -o FILE");
  }
  if (!arguments.file.empty() && !absl::EndsWithIgnoreCase(arguments.file, ".gif") &&
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
  std::ostream& out = session.io().out;
  const ExitCode code = ExitCodeFor(searches.front().answer.outcome());
  if (arguments.file.empty()) {
    out << film->bytes;
    return code;
  }
  if (const absl::Status written = WriteOutput(arguments.file, film->bytes); !written.ok()) {
    return session.FailUsage(written);
  }
  if (session.options().json) {
    v1::FindPathsResponse answers;
    for (const animation::TracedSearch& search : searches) {
      *answers.add_results()->mutable_answer() = search.answer;
    }
    answers.mutable_info()->mutable_version()->set_revision(
        searches.front().answer.info().version().revision());
    session.PrintJson(answers);
    return code;
  }
  out << "Wrote " << arguments.file << ": " << film->animation.frames.size() << " frames of "
      << film->animation.width << " x " << film->animation.height << ", " << film->bytes.size()
      << " bytes.\n";
  for (const animation::TracedSearch& search : searches) {
    out << FindText(search.query, search.answer) << "\n";
  }
  return code;
}

}  // namespace

void AddAnimateCommand(CLI::App& parent, Session& session) {
  const auto [command, arguments] = AddCommand(
      parent, session, "animate", "Makes a moving picture of a search, or of several side by side", &Animate,
      "All searches expand as much from one frame to the next, so that one that needs less ends first.\n"
      "Waypoint graphs are searched by astar and dijkstra, and navigation meshes by polyanya alone.\n\n"
      "Examples:\n"
      "  waystar animate arena 1,1 60,40 --algorithm astar --beside dijkstra --beside jump-point -o "
      "three.webp\n"
      "  waystar animate islands harbour lighthouse --algorithm astar --beside dijkstra -o beside.gif\n"
      "  waystar animate keep 2,2,0 2,3,4 -o keep.gif\n");
  AddQuery(command, arguments.query);
  AddChoice(
      command, "--beside",
      [&beside = arguments.beside](int algorithm) {
        beside.push_back(static_cast<v1::Algorithm>(algorithm));
      },
      ChoicesOf(*v1::Algorithm_descriptor(), kAlgorithmWords),
      "Another algorithm, to be seen beside the first; up to two", /*repeated=*/true)
      ->type_name("ALGORITHM");
  AddOutput(command, arguments.file, "The file to write: .gif or .webp; - is standard output, as a GIF")
      ->required();
  AddParsed(
      command, "--size", &ParseSize,
      [&arguments = arguments](const v1::BlankGrid& size) {
        arguments.width = std::clamp(size.width(), 64, kLargestSide);
        arguments.height = std::clamp(size.height(), 128, kLargestSide);
      },
      "How large it may be, in pixels [960x720]")
      ->type_name("WxH");
  AddNumber(command, "--frames", arguments.max_frames, 2, 1000, "How many frames it may have [160]");
  AddNumber(command, "--max-megabytes", arguments.max_megabytes, 0.05, 1000,
            "How large the file may be; there are fewer frames, and then smaller ones, if need be [5]")
      ->type_name("MB");
}

}  // namespace waystar::cli
