#include "client/animation/film.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/render/canvas/marks.h"

namespace waystar::animation {
namespace {

using picture::Color;
using picture::kTextSize;

constexpr int kHeader = 26;
constexpr int kFooter = 40;
constexpr double kNameSize = 11.0;
// Few shades make for small files.
constexpr int kShades = 40;

std::string Outcome(const v1::FindPathResponse& answer) {
  switch (answer.outcome()) {
    case v1::OUTCOME_FOUND:
      return absl::StrFormat("path found, cost %.7g", answer.cost());
    case v1::OUTCOME_PARTIAL:
      return absl::StrFormat("as near as can be, cost %.7g", answer.cost());
    case v1::OUTCOME_BUDGET_EXHAUSTED:
      return "out of budget";
    case v1::OUTCOME_TOO_COSTLY:
      return "too costly";
    default:
      return "no path";
  }
}

bool HasPath(const v1::FindPathResponse& answer) {
  return answer.outcome() == v1::OUTCOME_FOUND || answer.outcome() == v1::OUTCOME_PARTIAL;
}

constexpr int kMargin = 12;
constexpr int kGap = 18;
constexpr int kLegendGap = 4;
constexpr int kLegend = 12 + kLegendGap;
constexpr int kFirstMilliseconds = 600;
constexpr int kLastMilliseconds = 3500;
constexpr int kWholeMilliseconds = 9000;

// Draws the legend in the last row, if there is room for it.
void AddLegend(picture::Canvas& canvas) {
  using Sign = picture::LegendEntry::Sign;
  const picture::LegendEntry legend[] = {{Sign::kStart, kColors.start, 0, "start"},
                                         {Sign::kGoal, kColors.goal, 0, "goal"},
                                         {Sign::kLine, kColors.path, 0, "path"},
                                         {Sign::kRamp, {}, 0, "expanded, by cost"},
                                         {Sign::kRing, kColors.open, 0, "on the open list"}};
  const double width = canvas.width() - 2 * kMargin;
  if (DrawLegend(legend, {}, width, kColors, nullptr) <= kLegend - kLegendGap) {
    picture::RasterSurface surface(canvas);
    const double top = canvas.height() - kMargin - kLegend + kLegendGap;
    DrawLegend(legend, {kMargin, top}, width, kColors, &surface);
  }
}

picture::Canvas Compose(const std::vector<SearchPanel>& panels) {
  std::vector<picture::Canvas> pictures;
  int width = 2 * kMargin - kGap;
  int height = 0;
  for (const SearchPanel& panel : panels) {
    pictures.push_back(panel.Draw());
    width += pictures.back().width() + kGap;
    height = std::max(height, pictures.back().height());
  }
  picture::Canvas canvas(width, height + kLegend + 2 * kMargin, kColors.paper);
  int x = kMargin;
  for (const picture::Canvas& picture : pictures) {
    canvas.Paste(picture, x, kMargin);
    x += picture.width() + kGap;
  }
  AddLegend(canvas);
  return canvas;
}

// Returns the changed rectangle, or nothing if the canvases are equal.
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
  Frame frame{.x = left, .y = top, .part = picture::Canvas(right - left, bottom - top, kColors.paper)};
  frame.part.Paste(after, -left, -top);
  return frame;
}

}  // namespace

SearchPanel::SearchPanel(TracedSearch search, picture::Canvas map, const picture::Tiling& tiling)
    : search_(std::move(search)), drawing_(MakeSearchDrawing(search_, std::move(map), tiling)) {
  for (const v1::SearchEvent& event : search_.events) {
    if (event.kind() == v1::SearchEvent::KIND_EXPANDED) {
      ++expansions_;
      dearest_ = std::max(dearest_, drawing_->CostOf(event));
    }
  }
}

void SearchPanel::AdvanceTo(std::size_t expansions) {
  while (next_ < search_.events.size() && expanded_ < expansions) {
    Take(next_++);
  }
  // Take the events that follow the last expansion.
  while (next_ < search_.events.size() && search_.events[next_].kind() != v1::SearchEvent::KIND_EXPANDED) {
    Take(next_++);
  }
  if (!is_done_ && next_ == search_.events.size()) {
    is_done_ = true;
    drawing_->DrawPath();
  }
}

void SearchPanel::Take(std::size_t index) {
  const v1::SearchEvent& event = search_.events[index];
  const auto [place, is_new] = reached_.try_emplace(drawing_->KeyOf(event), Reached{.event = index});
  Reached& reached = place->second;
  if (event.kind() == v1::SearchEvent::KIND_EXPANDED) {
    ++expanded_;
    if (!reached.is_expanded) {
      reached.is_expanded = true;
      open_ -= is_new ? 0 : 1;
    }
    const double cost = drawing_->CostOf(event);
    const double share = dearest_ > 0 ? std::floor(cost / dearest_ * kShades) / kShades : 0.0;
    drawing_->DrawExpanded(search_.events[reached.event], share);
    return;
  }
  reached.event = index;
  if (is_new) {
    ++open_;
    drawing_->DrawOpen(event);
  }
}

picture::Canvas SearchPanel::Draw() const {
  const picture::Canvas map = drawing_->Picture();
  picture::Canvas canvas(map.width(), kHeader + map.height() + kFooter, kColors.paper);
  picture::RasterSurface surface(canvas);
  surface.Write(search_.name, {1, kHeader - 9}, {kColors.ink, kNameSize});
  canvas.Paste(map, 0, kHeader);
  const double first = kHeader + map.height() + 16;
  surface.Write(absl::StrCat("expanded ", expanded_, "   open ", open_), {1, first},
                {kColors.ink, kTextSize});
  const Color color = !is_done_ ? kColors.faint : HasPath(search_.answer) ? kColors.path : kColors.ink;
  surface.Write(is_done_ ? Outcome(search_.answer) : "searching", {1, first + 16}, {color, kTextSize});
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
