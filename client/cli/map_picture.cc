#include "client/cli/map_picture.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/animation/search_drawing.h"

namespace waystar::cli {
namespace {

// From pale yellow to red.
constexpr absl::string_view kShades[] = {"38;5;230", "38;5;229", "38;5;228", "38;5;227", "38;5;226",
                                         "38;5;220", "38;5;214", "38;5;208", "38;5;202", "38;5;196"};

constexpr std::pair<char, absl::string_view> kColors[] = {{'.', "2"},    {'#', "90"},   {'%', "90"},
                                                          {'o', "34"},   {'*', "1;33"}, {'G', "1;31"},
                                                          {'S', "1;32"}, {'P', "35"}};

absl::string_view ColorOf(char symbol) {
  if (absl::ascii_isdigit(static_cast<unsigned char>(symbol))) {
    return kShades[symbol - '0'];
  }
  for (const auto& [colored, color] : kColors) {
    if (colored == symbol) {
      return color;
    }
  }
  return "36";
}

// Colours a line from its column `begin` on.
std::string Colored(absl::string_view line, std::size_t begin) {
  std::string text(line.substr(0, begin));
  char before = ' ';
  for (const char symbol : line.substr(std::min(begin, line.size()))) {
    if (symbol != ' ' && symbol != before) {
      absl::StrAppend(&text, before == ' ' ? "" : "\x1b[0m", "\x1b[", ColorOf(symbol), "m");
      before = symbol;
    }
    text.push_back(symbol);
  }
  return before == ' ' ? text : text + "\x1b[0m";
}

struct Place {
  double x = 0.0;
  double y = 0.0;
};

// Returns how far apart cells that differ by (x, y) are on the picture.
Place StepOf(const v1::PicturePlacement& placement, int x, int y) {
  return {x * placement.x_step().x() + y * placement.y_step().x(),
          x * placement.x_step().y() + y * placement.y_step().y()};
}

char ArrowOf(v1::Direction direction, const v1::PicturePlacement& placement) {
  static constexpr int kDx[] = {0, 0, 1, 1, 1, 0, -1, -1, -1};
  static constexpr int kDy[] = {0, -1, -1, 0, 1, 1, 1, 0, -1};
  const Place step = StepOf(placement, kDx[direction], kDy[direction]);
  if (step.y == 0) {
    return step.x < 0 ? '<' : '>';
  }
  if (step.x == 0) {
    return step.y < 0 ? '^' : 'v';
  }
  return (step.x < 0) == (step.y < 0) ? '\\' : '/';
}

// Returns how many cells in a row a character stands for.
double CellsPerCharacter(const v1::PicturePlacement& placement) {
  return (placement.hexagons() ? 2.0 : 1.0) / placement.x_step().x();
}

bool IsReduced(const v1::PicturePlacement& placement) { return CellsPerCharacter(placement) > 1.001; }

// Returns a sentence about what the picture does not show; empty if it shows all.
std::string Caption(const v1::PicturePlacement& placement, const v1::Rectangle& whole) {
  const v1::Rectangle& part = placement.region();
  std::vector<std::string> sentences;
  if (part.width() < whole.width() || part.height() < whole.height()) {
    sentences.push_back(absl::StrFormat("Shown: x %d to %d and y %d to %d of a map of %d x %d.", part.x(),
                                        part.x() + part.width() - 1, part.y(), part.y() + part.height() - 1,
                                        whole.width(), whole.height()));
  }
  if (IsReduced(placement)) {
    const double cells = CellsPerCharacter(placement);
    sentences.push_back(absl::StrFormat("Each character stands for %.3g x %.3g cells.", cells, cells));
  }
  return sentences.empty() ? "" : absl::StrJoin(sentences, " ") + "\n";
}

// Asks for the picture, and if that is reduced, for one of the part that matters. `whole` is then the map.
absl::StatusOr<v1::RenderMapResponse> Render(const MapPicture& picture, const DrawOptions& options,
                                             v1::Rectangle& whole, Session& session) {
  v1::RenderMapRequest request = picture.request;
  request.set_format(v1::PICTURE_FORMAT_TEXT);
  if (options.full) {
    request.set_max_width(kLargestSide);
    request.set_max_height(kLargestSide);
  } else {
    FitWindow(session.io(), request);
  }
  absl::StatusOr<v1::RenderMapResponse> drawn = session.client().RenderMap(request);
  if (!drawn.ok()) {
    return drawn;
  }
  const v1::PicturePlacement& placement = drawn->placement();
  whole = placement.region();
  std::vector<v1::Cell> focus = picture.focus;
  for (const MarkedCell& marked : picture.marks) {
    focus.push_back(marked.cell);
  }
  const v1::Path& path = drawn->answer().path();
  focus.insert(focus.end(), path.points().begin(), path.points().end());
  if (!path.directions().empty()) {
    focus.insert(focus.end(), {path.start().cell(), path.end().cell()});
  }
  if (options.full || focus.empty() || !IsReduced(placement)) {
    return drawn;
  }
  // Numbers stand to the left and above.
  const int columns = (request.max_width() - 6) / (placement.hexagons() ? 2 : 1);
  *request.mutable_region() = PartAround(focus, whole, columns, request.max_height() - 3);
  return session.client().RenderMap(request);
}

}  // namespace

void AddDrawOptions(CLI::App& command, DrawOptions& options) {
  command.add_flag_callback(
      "--no-picture", [&options] { options.picture = false; }, "Do not draw the map");
  command.add_flag("--full", options.full, "Draw every cell of the map, up to 4096 in a row or column");
}

void FitWindow(const Io& io, v1::RenderMapRequest& request) {
  // Legend, facts and the next prompt.
  constexpr int kOtherLines = 6;
  request.set_max_width(std::clamp(io.window.columns, kSmallestSide, kLargestSide));
  request.set_max_height(std::clamp(io.window.rows - kOtherLines, kSmallestSide, kLargestSide));
}

absl::StatusOr<DrawnPicture> DrawPicture(const MapPicture& picture, const DrawOptions& options,
                                         Session& session) {
  v1::Rectangle whole;
  const absl::StatusOr<v1::RenderMapResponse> drawn = Render(picture, options, whole, session);
  if (!drawn.ok()) {
    return drawn.status();
  }
  const v1::PicturePlacement& placement = drawn->placement();
  // Graphs and meshes have no cells.
  if (placement.has_area()) {
    return DrawnPicture{drawn->image(), drawn->version(), drawn->answer()};
  }
  v1::HexLayout layout = v1::HEX_LAYOUT_UNSPECIFIED;
  if (placement.hexagons() && !picture.marks.empty()) {
    const auto& info = session.InfoOf(picture.request.map());
    if (!info.ok()) {
      return info.status();
    }
    layout = info->grid().hexagons().layout();
  }
  return DrawnPicture{DrawMarks(*drawn, picture.marks, picture.legend, layout, session.UsesColor()) +
                          Caption(placement, whole),
                      drawn->version(), drawn->answer()};
}

void ShowPicture(const MapPicture& picture, const v1::Version& version, absl::string_view what,
                 const DrawOptions& options, Session& session) {
  if (!options.picture) {
    return;
  }
  const absl::StatusOr<DrawnPicture> drawn = DrawPicture(picture, options, session);
  if (!drawn.ok()) {
    session.Fail(drawn.status());
    return;
  }
  session.io().out << drawn->text;
  if (drawn->version.epoch() != version.epoch()) {
    session.io().out << "The picture shows a map that has replaced the one that the " << what << " is for.\n";
  } else if (drawn->version.revision() != version.revision()) {
    session.io().out << "The picture shows revision " << drawn->version.revision() << ", the " << what
                     << " is for revision " << version.revision() << ".\n";
  }
}

std::string DrawMarks(const v1::RenderMapResponse& drawn, const std::vector<MarkedCell>& marks,
                      const std::string& legend, v1::HexLayout layout, bool color) {
  const v1::PicturePlacement& placement = drawn.placement();
  std::vector<std::string> lines = absl::StrSplit(drawn.image(), '\n');
  for (const MarkedCell& marked : marks) {
    const v1::Cell cell = animation::AxialOf(layout, marked.cell);
    const Place step = StepOf(placement, cell.x(), cell.y());
    const auto x = static_cast<std::ptrdiff_t>(std::floor(placement.zero().x() + step.x));
    const auto y = static_cast<std::ptrdiff_t>(std::floor(placement.zero().y() + step.y));
    if (x >= 0 && x < placement.width() && y >= 0 &&
        y < std::min<std::ptrdiff_t>(placement.height(), std::ssize(lines))) {
      std::string& line = lines[static_cast<std::size_t>(y)];
      line.resize(std::max(line.size(), static_cast<std::size_t>(x) + 1), ' ');
      line[static_cast<std::size_t>(x)] =
          marked.symbol == 0 ? ArrowOf(marked.direction, placement) : marked.symbol;
    }
  }
  const std::size_t title = drawn.has_answer() ? 2 : 1;
  const auto height = std::min(static_cast<std::size_t>(placement.height()), lines.size());
  if (color) {
    const v1::Rectangle& part = placement.region();
    const std::size_t numbers = absl::StrCat(part.y() + part.height() - 1).size() + 1;
    for (std::size_t i = title + 1; i < height; ++i) {
      lines[i] = Colored(lines[i], numbers);
    }
  }
  if (!legend.empty()) {
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(height), legend);
  }
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(std::min(title, height)));
  return absl::StrJoin(lines, "\n");
}

v1::Rectangle PartAround(const std::vector<v1::Cell>& focus, const v1::Rectangle& whole, int columns,
                         int rows) {
  constexpr int kMargin = 2;
  struct Span {
    int first = 0;
    int length = 0;
  };
  const auto along = [&](int (v1::Cell::*at)() const, int room, int side) -> Span {
    const auto [low, high] = std::ranges::minmax(focus, {}, at);
    const int first = std::clamp((low.*at)() - kMargin, 0, side - 1);
    const int last = std::clamp((high.*at)() + kMargin, first, side - 1);
    const int length = std::min(std::max(room, last - first + 1), side);
    return {std::clamp(first - (length - (last - first + 1)) / 2, 0, side - length), length};
  };
  const Span x = along(static_cast<int (v1::Cell::*)() const>(&v1::Cell::x), columns, whole.width());
  const Span y = along(static_cast<int (v1::Cell::*)() const>(&v1::Cell::y), rows, whole.height());
  v1::Rectangle part;
  part.set_x(x.first);
  part.set_y(y.first);
  part.set_width(x.length);
  part.set_height(y.length);
  return part;
}

}  // namespace waystar::cli
