#include "client/cli/map_picture.h"

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/cli/find_text.h"
#include "client/cli/shape_argument.h"

namespace waystar::cli {
namespace {

std::vector<v1::Cell> Focus(const Overlay& overlay) {
  std::vector<v1::Cell> cells;
  for (const MarkedCell& marked : overlay) {
    if (marked.mark != Mark::kOpen) {
      cells.push_back(marked.cell);
    }
  }
  return cells;
}

bool Fits(const std::vector<absl::string_view>& rows, const v1::GridInfo& size) {
  return size.width() > 0 && size.height() > 0 && std::ssize(rows) == size.height() &&
         std::all_of(rows.begin(), rows.end(),
                     [&](absl::string_view row) { return std::ssize(row) == size.width(); });
}

// Hexagons with a side on top would be shifted by half a line, which text cannot be.
RowShift ShiftOf(v1::HexLayout layout) {
  switch (layout) {
    case v1::HEX_LAYOUT_AXIAL_POINTY:
      return RowShift::kEveryRow;
    case v1::HEX_LAYOUT_ODD_ROWS:
      return RowShift::kOddRows;
    case v1::HEX_LAYOUT_EVEN_ROWS:
      return RowShift::kEvenRows;
    default:
      return RowShift::kNone;
  }
}

// The window in cells, where each of a row takes two characters.
Window InHexagons(Window window, RowShift shift, int rows) {
  if (shift == RowShift::kEveryRow) {
    window.columns -= std::min(window.rows, rows);
  }
  window.columns = std::max(window.columns / 2, 1);
  return window;
}

void AppendLine(const std::string& line, std::string& text) {
  if (!line.empty()) {
    text += line + "\n";
  }
}

// Ruler, legend, caption, facts and the next prompt.
constexpr int kOtherRows = 6;

Overlay OverlayOf(const v1::FindPathRequest& request, const v1::FindPathResponse& answer) {
  const v1::Cell& start = StartOf(request, answer);
  Overlay overlay = {{.cell = start, .mark = Mark::kStart}};
  AddMarks(PathCells(request.map(), start, answer), Mark::kPath, overlay);
  if (!request.goal_map().empty() && request.goal_map() != request.map()) {
    return overlay;
  }
  const std::vector<v1::Cell> goals = GivenCells(request.goals());
  const v1::Path& path = answer.path();
  AddMarks(goals, Mark::kGoal, overlay);
  if ((goals.empty() || request.goals_size() > 1) && answer.outcome() == v1::OUTCOME_FOUND) {
    overlay.push_back({.cell = path.end().cell(), .mark = Mark::kGoal});
  }
  if (path.has_end()) {
    overlay.push_back({.cell = path.end().cell(), .mark = Mark::kEnd});
  }
  return overlay;
}

// Fetches the map and shows it with what `overlay` makes of it, or tells why it cannot. Says so if the map
// has changed since `version`, that of `what`.
void ShowOnMap(const std::string& map, const Overlay& overlay, const v1::Version& version,
               absl::string_view what, const DrawOptions& options, Session& session) {
  if (!options.picture) {
    return;
  }
  v1::ExportMapRequest request;
  request.set_map(map);
  request.set_format(v1::MAP_FORMAT_TEXT);
  const auto exported = session.client().ExportMap(request);
  if (!exported.ok()) {
    session.Fail(exported.status());
    return;
  }
  const v1::MapInfo& info = exported->header.info();
  // A smaller map may have replaced it.
  Overlay drawn = overlay;
  std::erase_if(drawn, [&](const MarkedCell& marked) {
    return marked.cell.x() < 0 || marked.cell.y() < 0 || marked.cell.x() >= info.grid().width() ||
           marked.cell.y() >= info.grid().height();
  });
  const auto picture = MapPicture(*exported, drawn, WindowFor(options, session.io()), session.UsesColor());
  if (!picture.ok()) {
    session.Fail(picture.status());
    return;
  }
  session.io().out << *picture;
  if (info.version().epoch() != version.epoch()) {
    session.io().out << "The picture shows a map that has replaced the one that the " << what << " is for.\n";
  } else if (info.version().revision() != version.revision()) {
    session.io().out << "The picture shows revision " << info.version().revision() << ", the " << what
                     << " is for revision " << version.revision() << ".\n";
  }
}

}  // namespace

absl::StatusOr<std::string> MapPicture(const client::ExportedMap& map, const Overlay& overlay, Window window,
                                       bool color) {
  const v1::GridInfo& grid = map.header.info().grid();
  const auto rows = MapRows(map.bytes, grid.height());
  if (!Fits(rows, grid)) {
    return absl::DataLossError("the server sent a map that is not of the size it said");
  }
  const RowShift shift = ShiftOf(grid.hexagons().layout());
  const auto view = [&](const Window& cells) {
    return ChooseView(grid.width(), grid.height(), Focus(overlay), cells);
  };
  const View shifted = view(InHexagons(window, shift, grid.height()));
  const bool is_shifted = shift != RowShift::kNone && shifted.scale == 1;
  Picture picture = DrawMap(rows, is_shifted ? shifted : view(window));
  picture.shift = is_shifted ? shift : RowShift::kNone;
  DrawOverlay(overlay, ChooseMarkers(picture), picture);
  std::string text = Paint(picture, color);
  AppendLine(Legend(picture, grid), text);
  AppendLine(Caption(picture.view, grid.width(), grid.height()), text);
  return text;
}

std::vector<v1::Cell> GivenCells(const google::protobuf::RepeatedPtrField<v1::Location>& locations) {
  std::vector<v1::Cell> cells;
  for (const v1::Location& location : locations) {
    if (location.has_cell()) {
      cells.push_back(location.cell());
    }
  }
  return cells;
}

void AddDrawOptions(CLI::App& command, DrawOptions& options) {
  command.add_flag_callback(
      "--no-picture", [&options] { options.picture = false; }, "Do not draw the map");
  command.add_flag("--full", options.full, "Draw every cell of the map, however large it is");
}

Window WindowFor(const DrawOptions& options, const Io& io) {
  if (options.full) {
    return {std::numeric_limits<int>::max(), std::numeric_limits<int>::max()};
  }
  return {std::max(io.window.columns - kGutterColumns, 20), std::max(io.window.rows - kOtherRows, 8)};
}

void ShowAnswerPicture(const v1::FindPathRequest& request, const v1::FindPathResponse& answer,
                       const SearchedPlaces& search, const DrawOptions& options, Session& session) {
  Overlay overlay = OverlayOf(request, answer);
  for (const v1::SearchEvent& event : search.Expanded()) {
    overlay.push_back({.cell = event.cell(), .mark = Mark::kExpanded});
  }
  for (const v1::SearchEvent& event : search.Open()) {
    overlay.push_back({.cell = event.cell(), .mark = Mark::kOpen});
  }
  ShowOnMap(request.map(), overlay, answer.info().version(), "path", options, session);
}

void ShowFieldPicture(const std::string& map, const Overlay& overlay, const v1::Version& version,
                      const DrawOptions& options, Session& session) {
  ShowOnMap(map, overlay, version, "answer", options, session);
}

namespace {

// Returns a name that is unique to the place of an event within its search.
std::string PlaceOf(const v1::SearchEvent& event) {
  if (event.has_interval()) {
    return absl::StrCat(event.interval().id());
  }
  return event.node().empty() ? FormatCell(event.cell()) : event.node();
}

}  // namespace

void SearchedPlaces::Add(const v1::SearchEvent& event) {
  const auto [entry, is_new] = indices_.try_emplace(PlaceOf(event), places_.size());
  if (is_new) {
    places_.push_back({.reached = event});
  }
  Place& place = places_[entry->second];
  if (event.kind() != v1::SearchEvent::KIND_EXPANDED) {
    place.reached = event;
    return;
  }
  place.reached.set_g(event.g());
  place.reached.set_f(event.f());
  if (!place.is_expanded) {
    place.is_expanded = true;
    expanded_.push_back(entry->second);
  }
}

std::vector<v1::SearchEvent> SearchedPlaces::Expanded() const {
  std::vector<v1::SearchEvent> events;
  events.reserve(expanded_.size());
  for (const std::size_t index : expanded_) {
    events.push_back(places_[index].reached);
  }
  return events;
}

std::vector<v1::SearchEvent> SearchedPlaces::Open() const {
  std::vector<v1::SearchEvent> events;
  events.reserve(open());
  for (const Place& place : places_) {
    if (!place.is_expanded) {
      events.push_back(place.reached);
    }
  }
  return events;
}

}  // namespace waystar::cli
