#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "client/cli/arguments.h"
#include "client/cli/completion/command_tree.h"
#include "client/cli/files.h"
#include "client/cli/find_text.h"
#include "client/cli/query_arguments.h"
#include "client/cli/shape_argument.h"
#include "server/render/canvas/canvas.h"
#include "server/render/file/picture_file.h"

namespace waystar::cli {
namespace {

enum class PictureKind { kByName, kPng, kSvg, kText, kBlocks };

struct RenderArguments {
  v1::RenderMapRequest request;
  PictureKind kind = PictureKind::kByName;
  // Empty for standard output.
  std::string file;
};

// Returns the kind given by --format, or else by the file's name; kByName if neither decides.
PictureKind KindOf(const RenderArguments& arguments) {
  if (arguments.kind != PictureKind::kByName) {
    return arguments.kind;
  }
  for (const auto& [ending, kind] :
       {std::pair(".png", PictureKind::kPng), {".svg", PictureKind::kSvg}, {".txt", PictureKind::kText}}) {
    if (absl::EndsWithIgnoreCase(arguments.file, ending)) {
      return kind;
    }
  }
  return arguments.file.empty() ? PictureKind::kText : PictureKind::kByName;
}

v1::PictureFormat FormatOf(PictureKind kind) {
  switch (kind) {
    case PictureKind::kSvg:
      return v1::PICTURE_FORMAT_SVG;
    case PictureKind::kText:
      return v1::PICTURE_FORMAT_TEXT;
    default:
      return v1::PICTURE_FORMAT_PNG;
  }
}

// As much as the terminal has room for.
void FitWindow(const Io& io, PictureKind kind, v1::RenderMapRequest& request) {
  constexpr int kLargest = 4096;
  constexpr int kOtherLines = 6;
  const int lines = std::max(io.window.rows - kOtherLines, 16);
  const int columns = std::clamp(io.window.columns, 16, kLargest);
  if (kind == PictureKind::kBlocks) {
    // The rest of the labels would be too small to read.
    request.set_labels(false);
    request.set_legend(false);
  }
  if (request.max_width() == 0) {
    request.set_max_width(columns);
    request.set_max_height(std::min(kind == PictureKind::kBlocks ? lines * 2 : lines, kLargest));
  }
}

ExitCode WritePicture(const RenderArguments& arguments, const v1::RenderMapResponse& response,
                      Session& session) {
  if (const absl::Status written = WriteOutput(arguments.file, response.image()); !written.ok()) {
    return session.FailUsage(std::string(written.message()));
  }
  session.io().out << "Wrote " << arguments.file << ": " << arguments.request.map() << " at revision "
                   << response.version().revision() << ", " << response.placement().width() << " x "
                   << response.placement().height() << ", " << response.image().size() << " bytes.\n";
  return ExitCode::kOk;
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

ExitCode ShowPicture(PictureKind kind, const v1::RenderMapResponse& response, Session& session) {
  if (kind != PictureKind::kBlocks) {
    session.io().out << response.image();
    return ExitCode::kOk;
  }
  const auto canvas = picture::DecodePng(response.image());
  if (!canvas.ok()) {
    return session.Fail(canvas.status());
  }
  session.io().out << HalfBlocks(*canvas);
  return ExitCode::kOk;
}

// As JSON; the picture itself goes to the file, if there is one.
ExitCode PrintAnswer(const std::string& file, v1::RenderMapResponse& response, Session& session) {
  if (!file.empty()) {
    if (const absl::Status written = WriteOutput(file, response.image()); !written.ok()) {
      return session.FailUsage(std::string(written.message()));
    }
    response.clear_image();
  }
  session.PrintJson(response);
  return response.has_answer() ? ExitCodeFor(response.answer().outcome()) : ExitCode::kOk;
}

ExitCode Render(const RenderArguments& arguments, Session& session) {
  const PictureKind kind = KindOf(arguments);
  if (kind == PictureKind::kByName) {
    return session.FailUsage(absl::StrCat(
        "what is ", arguments.file, " to be? A name that ends in .png, .svg or .txt tells, or --format"));
  }
  const bool is_file = kind == PictureKind::kPng || kind == PictureKind::kSvg;
  if (is_file && arguments.file.empty() && session.io().is_terminal) {
    return session.FailUsage(
        "a terminal shows no such file: name one with -o FILE, or ask for --format blocks");
  }
  if (kind == PictureKind::kBlocks && session.options().color == ColorChoice::kNever) {
    return session.FailUsage("half blocks are nothing without colours: ask for --format text");
  }
  v1::RenderMapRequest request = arguments.request;
  request.set_format(FormatOf(kind));
  if (arguments.file.empty() && !is_file) {
    FitWindow(session.io(), kind, request);
  }
  auto response = session.client().RenderMap(request);
  if (!response.ok()) {
    return session.Fail(response.status());
  }
  if (session.options().json) {
    return PrintAnswer(arguments.file, *response, session);
  }
  const ExitCode code = arguments.file.empty() ? ShowPicture(kind, *response, session)
                                               : WritePicture(arguments, *response, session);
  if (code != ExitCode::kOk || !response->has_answer()) {
    return code;
  }
  if (!arguments.file.empty() || kind == PictureKind::kBlocks) {
    session.io().out << FindText(request.query(), response->answer()) << "\n";
  }
  return ExitCodeFor(response->answer().outcome());
}

void AddPictureOptions(CLI::App& command, RenderArguments& arguments) {
  v1::RenderMapRequest& request = arguments.request;
  command
      .add_option("-o,--output", arguments.file, "The file to write: .png, .svg or .txt [standard output]")
      ->type_name(kFileType);
  AddChoice<PictureKind>(
      command, "--format", [&arguments](PictureKind kind) { arguments.kind = kind; },
      {{"png", PictureKind::kPng},
       {"svg", PictureKind::kSvg},
       {"text", PictureKind::kText},
       {"blocks", PictureKind::kBlocks}},
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
  AddParsed(
      command, "--heights", &ParseHeights,
      [&request](const v1::HeightRange& heights) { *request.mutable_heights() = heights; },
      "Only polygons of a mesh that have a point at these heights; either is optional")
      ->type_name("LOW:HIGH");
  AddField(command, "--oblique", request, &v1::RenderMapRequest::set_oblique,
           "Show a mesh from the side, with its floors above each other");
  AddField(command, "--search", request, &v1::RenderMapRequest::set_with_search,
           "Draw how the path was searched for");
  AddField(command, "--max-events", request, &v1::RenderMapRequest::set_max_events,
           "Draw so many events of the search at the most [1000000]");
  AddChoice<v1::PictureTheme>(
      command, "--theme", [&request](v1::PictureTheme theme) { request.set_theme(theme); },
      {{"light", v1::PICTURE_THEME_LIGHT}, {"dark", v1::PICTURE_THEME_DARK}}, "The colours [light]");
  command.add_flag_callback(
      "--no-legend", [&request] { request.set_legend(false); }, "Do not explain the colours");
  command.add_flag_callback(
      "--no-labels", [&request] { request.set_labels(false); }, "Draw neither a title nor numbers");
  AddChoice<v1::GridLines>(
      command, "--grid-lines", [&request](v1::GridLines lines) { request.set_grid_lines(lines); },
      {{"auto", v1::GRID_LINES_UNSPECIFIED},
       {"never", v1::GRID_LINES_NEVER},
       {"always", v1::GRID_LINES_ALWAYS}},
      "Lines between cells [auto: where cells are large]");
}

}  // namespace

void AddRenderCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<RenderArguments>();
  v1::RenderMapRequest& request = arguments->request;
  CLI::App& command =
      *parent.add_subcommand("render", "Draws a map, a path and its search as a picture: PNG, SVG or text");
  AddOptionalQuery(command, *request.mutable_query());
  AddPictureOptions(command, *arguments);
  command.footer(
      "Examples:\n"
      "  waystar render arena 1,1 60,40 --search --algorithm astar -o search.svg\n"
      "  waystar render arena --region 10,10+40x30 --size 800x600 -o part.png\n"
      "  waystar render arena 1,1 60,40 --format blocks\n"
      "  waystar render keep 2,2,0 2,3,4 --oblique -o keep.png\n");
  command.callback([arguments, &session] {
    v1::RenderMapRequest& asked = arguments->request;
    asked.set_map(asked.query().map());
    if (!HasEnds(asked.query())) {
      asked.clear_query();
    }
    session.exit_code = Render(*arguments, session);
  });
}

}  // namespace waystar::cli
