#include "client/animation/film.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/picture/color.h"
#include "server/picture/surface.h"

namespace waystar::animation {
namespace {

using picture::Color;
using picture::Point;

constexpr Color kPaper = picture::Rgb(0xFFFFFF);
constexpr Color kInk = picture::Rgb(0x1F2933);
constexpr Color kFaint = picture::Rgb(0x6B7785);
constexpr int kHeader = 26;
constexpr int kFooter = 40;
constexpr double kNameSize = 11.0;
constexpr double kTextSize = 8.0;
// Few shades make for small files.
constexpr int kShades = 40;

std::uint64_t KeyOf(const v1::Cell& cell) {
  return std::uint64_t{static_cast<std::uint32_t>(cell.y())} << 32 | static_cast<std::uint32_t>(cell.x());
}

bool AreNeighbours(const v1::Cell& a, const v1::Cell& b) {
  return std::abs(a.x() - b.x()) <= 1 && std::abs(a.y() - b.y()) <= 1;
}

bool IsWithin(const picture::Canvas& canvas, Point point) {
  return point.x >= 0 && point.x < canvas.width() && point.y >= 0 && point.y < canvas.height();
}

std::string Outcome(const v1::FindPathResponse& answer) {
  switch (answer.outcome()) {
    case v1::OUTCOME_FOUND:
      return absl::StrFormat("path found, cost %.7g", answer.cost());
    case v1::OUTCOME_PARTIAL:
      return absl::StrFormat("as near as can be, cost %.7g", answer.cost());
    case v1::OUTCOME_BUDGET_EXHAUSTED:
      return "out of budget";
    default:
      return "no path";
  }
}

constexpr picture::Color kBackground = picture::Rgb(0xFFFFFF);
constexpr int kMargin = 12;
constexpr int kGap = 18;
constexpr int kFirstMilliseconds = 600;
constexpr int kLastMilliseconds = 3500;
constexpr int kWholeMilliseconds = 9000;

picture::Canvas Compose(const std::vector<SearchPanel>& panels) {
  std::vector<picture::Canvas> pictures;
  int width = 2 * kMargin - kGap;
  int height = 0;
  for (const SearchPanel& panel : panels) {
    pictures.push_back(panel.Draw());
    width += pictures.back().width() + kGap;
    height = std::max(height, pictures.back().height());
  }
  picture::Canvas canvas(width, height + 2 * kMargin, kBackground);
  int x = kMargin;
  for (const picture::Canvas& picture : pictures) {
    canvas.Paste(picture, x, kMargin);
    x += picture.width() + kGap;
  }
  return canvas;
}

// What differs; nothing if they are alike.
std::optional<Frame> Difference(const picture::Canvas& before, const picture::Canvas& after) {
  int left = after.width();
  int right = 0;
  int top = after.height();
  int bottom = 0;
  for (int y = 0; y < after.height(); ++y) {
    for (int x = 0; x < after.width(); ++x) {
      if (before.At(x, y) != after.At(x, y)) {
        left = std::min(left, x);
        right = std::max(right, x + 1);
        top = std::min(top, y);
        bottom = std::max(bottom, y + 1);
      }
    }
  }
  if (left >= right) {
    return std::nullopt;
  }
  Frame frame{.x = left, .y = top, .part = picture::Canvas(right - left, bottom - top, kBackground)};
  frame.part.Paste(after, -left, -top);
  return frame;
}

}  // namespace

SearchPanel::SearchPanel(TracedSearch search, picture::Canvas map, const picture::Tiling& tiling)
    : search_(std::move(search)), map_(std::move(map)), tiling_(tiling) {
  for (const v1::SearchEvent& event : search_.events) {
    if (event.kind() == v1::SearchEvent::KIND_EXPANDED) {
      ++expansions_;
      dearest_ = std::max(dearest_, event.g());
    }
  }
  DrawEnds();
}

void SearchPanel::AdvanceTo(std::size_t expansions) {
  const std::size_t before = expanded_;
  while (next_ < search_.events.size() && expanded_ < expansions) {
    Take(search_.events[next_++]);
  }
  // What the last one led to.
  while (next_ < search_.events.size() && search_.events[next_].kind() != v1::SearchEvent::KIND_EXPANDED) {
    Take(search_.events[next_++]);
  }
  if (!is_done_ && next_ == search_.events.size()) {
    is_done_ = true;
    DrawPath();
    DrawEnds();
  } else if (expanded_ != before) {
    DrawEnds();
  }
}

void SearchPanel::Take(const v1::SearchEvent& event) {
  const auto [place, is_new] = reached_.try_emplace(KeyOf(event.cell()));
  Reached& reached = place->second;
  if (event.kind() == v1::SearchEvent::KIND_EXPANDED) {
    ++expanded_;
    if (!reached.is_expanded) {
      reached.is_expanded = true;
      open_ -= is_new ? 0 : 1;
    }
    DrawExpanded(event, reached);
    return;
  }
  reached.parent = event.has_parent() ? event.parent() : event.cell();
  if (!is_new) {
    return;
  }
  ++open_;
  constexpr double kRimmedCell = 5.0;
  const double cell = tiling_.CellPixels();
  if (cell < kRimmedCell) {
    const picture::Polygon area = tiling_.OutlineOf(event.cell().x(), event.cell().y());
    map_.Fill({&area, 1}, picture::Mix(kPaper, picture::kOpenColor, 0.6));
    return;
  }
  picture::RasterSurface surface(map_);
  picture::Polygon rim = tiling_.OutlineOf(event.cell().x(), event.cell().y(), cell * 0.16);
  rim.push_back(rim.front());
  surface.Stroke(rim, {{picture::kOpenColor}, std::clamp(cell * 0.08, 1.0, 2.5)});
}

void SearchPanel::DrawExpanded(const v1::SearchEvent& event, const Reached& reached) {
  const double cell = tiling_.CellPixels();
  // Leaves the lines between the cells.
  const double inset = cell >= 8 ? 0.5 : 0.0;
  const double share = dearest_ > 0 ? std::floor(event.g() / dearest_ * kShades) / kShades : 0.0;
  const picture::Polygon area = tiling_.OutlineOf(event.cell().x(), event.cell().y(), inset);
  map_.Fill({&area, 1}, picture::Mix(kPaper, picture::SearchColor(share), 0.85));
  if (AreNeighbours(reached.parent, event.cell())) {
    return;
  }
  picture::RasterSurface surface(map_);
  const bool any_angle = search_.answer.statistics().algorithm() == v1::ALGORITHM_LAZY_THETA_STAR;
  const std::vector<Point> line =
      any_angle
          ? std::vector<Point>{CenterOf(reached.parent), CenterOf(event.cell())}
          : tiling_.BentLine(reached.parent.x(), reached.parent.y(), event.cell().x(), event.cell().y());
  surface.Stroke(line, {{picture::Mix(kPaper, kInk, 0.6)}, std::clamp(cell * 0.08, 1.0, 2.0)});
}

void SearchPanel::DrawEnds() {
  picture::RasterSurface surface(map_);
  const double radius = std::clamp(tiling_.CellPixels() * 0.36, 4.0, 14.0);
  const auto draw = [&](const v1::Cell& cell, Color color) {
    surface.FillDisc(CenterOf(cell), radius + 1, {kPaper});
    surface.FillDisc(CenterOf(cell), radius, {color});
  };
  for (const v1::Location& goal : search_.query.goals()) {
    if (goal.has_cell()) {
      draw(goal.cell(), picture::kGoalColor);
      surface.FillDisc(CenterOf(goal.cell()), radius * 0.55, {kPaper});
      surface.FillDisc(CenterOf(goal.cell()), radius * 0.28, {picture::kGoalColor});
    }
  }
  draw(search_.answer.start(), picture::kStartColor);
}

void SearchPanel::DrawPath() {
  std::vector<Point> line;
  for (const v1::Cell& point : search_.answer.points()) {
    if (const Point at = CenterOf(point); IsWithin(map_, at)) {
      line.push_back(at);
    }
  }
  if (line.empty()) {
    return;
  }
  picture::RasterSurface surface(map_);
  const double width = std::clamp(tiling_.CellPixels() * 0.22, 2.5, 7.0);
  surface.Stroke(line, {{kPaper}, width + 2.5});
  surface.Stroke(line, {{picture::kPathColor}, width});
}

picture::Canvas SearchPanel::Draw() const {
  picture::Canvas canvas(map_.width(), kHeader + map_.height() + kFooter, kPaper);
  picture::RasterSurface surface(canvas);
  surface.Write(search_.name, {1, kHeader - 9}, {kInk, kNameSize});
  canvas.Paste(map_, 0, kHeader);
  const double first = kHeader + map_.height() + 16;
  surface.Write(absl::StrCat("expanded ", expanded_, "   open ", open_), {1, first}, {kInk, kTextSize});
  surface.Write(is_done_ ? Outcome(search_.answer) : "searching", {1, first + 16},
                {is_done_ ? picture::kPathColor : kFaint, kTextSize});
  return canvas;
}

Animation FilmOf(std::vector<SearchPanel> panels, std::size_t max_frames) {
  std::size_t expansions = 1;
  for (const SearchPanel& panel : panels) {
    expansions = std::max(expansions, panel.expansions());
  }
  const std::size_t steps = std::min(expansions, std::max<std::size_t>(max_frames, 2) - 1);
  const int milliseconds = std::clamp(kWholeMilliseconds / static_cast<int>(steps), 40, 250);
  picture::Canvas shown = Compose(panels);
  Animation film{.width = shown.width(), .height = shown.height()};
  film.frames.push_back({.part = shown, .milliseconds = kFirstMilliseconds});
  for (std::size_t step = 1; step <= steps; ++step) {
    for (SearchPanel& panel : panels) {
      panel.AdvanceTo(expansions * step / steps);
    }
    picture::Canvas next = Compose(panels);
    if (std::optional<Frame> frame = Difference(shown, next)) {
      frame->milliseconds = milliseconds;
      film.frames.push_back(*std::move(frame));
      shown = std::move(next);
    } else {
      film.frames.back().milliseconds += milliseconds;
    }
  }
  film.frames.back().milliseconds = kLastMilliseconds;
  return film;
}

}  // namespace waystar::animation
