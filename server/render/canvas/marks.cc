#include "server/render/canvas/marks.h"

#include <algorithm>

namespace waystar::picture {
namespace {

constexpr double kLegendRow = 18.0;
constexpr double kSwatch = 12.0;
constexpr double kEntryGap = 18.0;

double SignWidth(LegendEntry::Sign sign) { return sign == LegendEntry::Sign::kRamp ? 4 * kSwatch : kSwatch; }

void DrawSign(const LegendEntry& entry, Point at, const Palette& palette, Surface& surface) {
  const double middle = at.y + kSwatch / 2;
  const Point centre = {at.x + kSwatch / 2, middle};
  const auto draw_box = [&](const Box& box, Color color) { surface.Fill(box.corners(), {color}); };
  switch (entry.sign) {
    case LegendEntry::Sign::kArea:
      draw_box({at.x, at.y, kSwatch, kSwatch}, Mix(entry.color, palette.ink, 0.3));
      draw_box({at.x + 1, at.y + 1, kSwatch - 2, kSwatch - 2}, entry.color);
      break;
    case LegendEntry::Sign::kLine:
    case LegendEntry::Sign::kDashes: {
      const Point ends[] = {{at.x + 1, middle}, {at.x + kSwatch - 1, middle}};
      surface.Stroke(ends, {{entry.color}, 3, entry.sign == LegendEntry::Sign::kDashes ? 4.0 : 0.0});
      break;
    }
    case LegendEntry::Sign::kOutline: {
      const Box box = {at.x + 1, at.y + 1, kSwatch - 2, kSwatch - 2};
      Polygon rim = box.corners();
      surface.Fill(rim, {entry.color, kObstacleOpacity});
      rim.push_back(rim.front());
      surface.Stroke(rim, {{entry.color}, 1.5, 2.5});
      break;
    }
    case LegendEntry::Sign::kArrow: {
      const Point ends[] = {{at.x, middle}, {at.x + kSwatch / 2, middle}};
      surface.Stroke(ends, {{entry.color}, 2});
      surface.Fill({{at.x + kSwatch, middle}, {at.x + 4, middle - 5}, {at.x + 4, middle + 5}}, {entry.color});
      break;
    }
    case LegendEntry::Sign::kDisc:
      surface.FillDisc(centre, kSwatch / 2, {entry.color});
      break;
    case LegendEntry::Sign::kRing:
      surface.FillDisc(centre, kSwatch / 2, {entry.color});
      surface.FillDisc(centre, kSwatch / 2 - 2.5, {palette.paper});
      break;
    case LegendEntry::Sign::kDiamond:
      DrawDiamond(centre, kSwatch / 2 + 1, {entry.color}, surface);
      break;
    case LegendEntry::Sign::kStart:
      DrawStart(centre, {.halo = 0, .disc = kSwatch / 2}, palette, surface);
      break;
    case LegendEntry::Sign::kGoal:
      DrawGoal(centre, {.halo = 0, .disc = kSwatch / 2}, palette, surface);
      break;
    case LegendEntry::Sign::kRamp:
      constexpr int kSteps = 24;
      for (int i = 0; i < kSteps; ++i) {
        const double step = SignWidth(entry.sign) / kSteps;
        draw_box({at.x + i * step, at.y + 1, step, kSwatch - 2}, SearchColor(i / (kSteps - 1.0)));
      }
      break;
  }
}

}  // namespace

void DrawStart(Point at, const MarkSizes& sizes, const Palette& palette, Surface& surface) {
  surface.FillDisc(at, sizes.disc + sizes.halo, {palette.paper});
  surface.FillDisc(at, sizes.disc, {palette.start, 1, 'S'});
}

void DrawGoal(Point at, const MarkSizes& sizes, const Palette& palette, Surface& surface) {
  surface.FillDisc(at, sizes.disc + sizes.halo, {palette.paper});
  surface.FillDisc(at, sizes.disc, {palette.goal, 1, 'G'});
  if (sizes.disc >= 4) {
    surface.FillDisc(at, sizes.disc * 0.55, {palette.paper});
    surface.FillDisc(at, sizes.disc * 0.28, {palette.goal});
  }
}

void DrawPath(absl::Span<const Point> line, const MarkSizes& sizes, const Palette& palette,
              Surface& surface) {
  if (sizes.halo > 0) {
    surface.Stroke(line, {{palette.paper, 0.9}, sizes.path + 2 * sizes.halo});
  }
  surface.Stroke(line, {{palette.path, 1, '*'}, sizes.path});
}

double NodeRadius(std::size_t nodes) {
  constexpr std::size_t kLarge = 600;
  return nodes > 4 * kLarge ? 1.2 : nodes > kLarge ? 2.0 : 5.0;
}

void DrawReachedNode(Point at, double radius, std::optional<double> share, const Palette& palette,
                     Surface& surface) {
  const Color color = share ? SearchColor(*share) : palette.open;
  const char symbol = share ? DigitOf(*share) : 'O';
  if (radius < kRimmedNode) {
    surface.FillDisc(at, radius, {color, 1, symbol});
    return;
  }
  surface.FillDisc(at, radius + 2, {share ? palette.ink : color, 1, symbol});
  surface.FillDisc(at, share ? radius + 0.8 : radius - 0.6, {share ? color : palette.paper});
}

void DrawDiamond(Point at, double reach, const Paint& paint, Surface& surface) {
  surface.Fill({at + Point{0, -reach}, at + Point{reach, 0}, at + Point{0, reach}, at + Point{-reach, 0}},
               paint);
}

void DrawArrowhead(Point from, Point to, Color color, const Palette& palette, Surface& surface) {
  constexpr double kTip = 8.0;
  const double length = Distance(from, to);
  if (length < 3 * kTip) {
    return;
  }
  const Point ahead = (to - from) * (kTip / length);
  const Point aside = {-ahead.y * 0.55, ahead.x * 0.55};
  const Point tip = from + (to - from) * 0.62;
  const Point corners[] = {tip, tip - ahead + aside, tip - ahead - aside, tip};
  surface.Stroke(corners, {{palette.paper}, 2});
  surface.Fill({corners[0], corners[1], corners[2]}, {color});
}

char DigitOf(double share) { return static_cast<char>('0' + std::min(9, static_cast<int>(share * 10))); }

double DrawLegend(absl::Span<const LegendEntry> legend, Point at, double width, const Palette& palette,
                  Surface* surface) {
  Point next = at;
  for (const LegendEntry& entry : legend) {
    const double text = SignWidth(entry.sign) + 6;
    const double whole = text + TextWidth(entry.text, kTextSize);
    if (next.x > at.x && next.x + whole > at.x + width) {
      next = {at.x, next.y + kLegendRow};
    }
    if (surface != nullptr) {
      DrawSign(entry, next, palette, *surface);
      surface->Write(entry.text, {next.x + text, next.y + kSwatch - 2}, {palette.ink, kTextSize});
    }
    next.x += whole + kEntryGap;
  }
  return legend.empty() ? 0.0 : next.y + kSwatch - at.y;
}

}  // namespace waystar::picture
