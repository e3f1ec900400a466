#include "client/animation/film.h"

#include <algorithm>
#include <optional>

namespace waystar::animation {
namespace {

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
