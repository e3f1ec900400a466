#include "server/render/scene/scene.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

// Grid of characters to write marks on.
class TextSheet {
 public:
  TextSheet(int width, int height)
      : rows_(static_cast<std::size_t>(height), std::string(static_cast<std::size_t>(width), ' ')) {}

  void Put(int x, int y, char symbol) {
    if (y >= 0 && y < std::ssize(rows_) && x >= 0 && x < std::ssize(rows_[static_cast<std::size_t>(y)])) {
      rows_[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] = symbol;
    }
  }
  void Put(picture::Point point, char symbol) {
    // Marks may be too far off for an int.
    constexpr double kFar = 1e6;
    if (std::abs(point.x) < kFar && std::abs(point.y) < kFar) {
      Put(static_cast<int>(std::floor(point.x)), static_cast<int>(std::floor(point.y)), symbol);
    }
  }
  // Writes text at a point, possibly past the right edge of the sheet.
  void Write(picture::Point point, const std::string& text) {
    if (point.y < 0 || point.y >= static_cast<double>(rows_.size())) {
      return;
    }
    std::string& row = rows_[static_cast<std::size_t>(point.y)];
    const auto at = static_cast<std::size_t>(std::max(0.0, std::floor(point.x)));
    row.resize(std::max(row.size(), at + text.size()), ' ');
    row.replace(at, text.size(), text);
  }
  // Fills the characters between two points.
  void PutLine(picture::Point from, picture::Point to, char symbol) {
    const picture::Point way = to - from;
    const double longest = std::max(std::abs(way.x), std::abs(way.y));
    const int steps = static_cast<int>(std::ceil(std::min(longest, 1e5)));
    for (int step = 0; step <= steps; ++step) {
      Put(from + way * (steps == 0 ? 0.0 : static_cast<double>(step) / steps), symbol);
    }
  }

  std::string Join() const {
    std::string text;
    for (const std::string& row : rows_) {
      absl::StrAppend(&text, absl::StripTrailingAsciiWhitespace(row), "\n");
    }
    return text;
  }

 private:
  std::vector<std::string> rows_;
};

picture::Point MiddleOf(const std::vector<picture::Point>& points) {
  picture::Point sum;
  for (const picture::Point& point : points) {
    sum = sum + point;
  }
  return sum * (1.0 / static_cast<double>(points.size()));
}

void WriteMark(const SceneMark& mark, TextSheet& sheet) {
  if (mark.kind == SceneMark::Kind::kText) {
    const auto length = static_cast<double>(mark.text.size());
    const double before = mark.anchor == picture::TextStyle::Anchor::kLeft     ? 0.0
                          : mark.anchor == picture::TextStyle::Anchor::kMiddle ? std::floor(length / 2)
                                                                               : length;
    sheet.Write({mark.points.front().x - before, mark.points.front().y}, mark.text);
  } else if (mark.paint.symbol == 0) {
    return;
  } else if (mark.kind == SceneMark::Kind::kLine) {
    for (std::size_t i = 0; i + 1 < mark.points.size(); ++i) {
      sheet.PutLine(mark.points[i], mark.points[i + 1], mark.paint.symbol);
    }
  } else {
    sheet.Put(MiddleOf(mark.points), mark.paint.symbol);
  }
}

std::string LegendText(const std::vector<picture::LegendEntry>& legend, std::size_t width) {
  std::string text;
  std::string line;
  for (const picture::LegendEntry& entry : legend) {
    if (entry.symbol == 0) {
      continue;
    }
    const bool is_ramp = entry.sign == picture::LegendEntry::Sign::kRamp;
    const std::string words = absl::StrCat(is_ramp ? "0-9" : std::string(1, entry.symbol), " ", entry.text);
    if (!line.empty() && line.size() + 2 + words.size() > width) {
      absl::StrAppend(&text, line, "\n");
      line.clear();
    }
    absl::StrAppend(&line, line.empty() ? "" : "  ", words);
  }
  return line.empty() ? text : absl::StrCat(text, line, "\n");
}

}  // namespace

void Scene::Fill(const picture::Polygon& polygon, const picture::Paint& paint) {
  marks.push_back({.points = polygon, .paint = paint});
}

void Scene::FillDisc(picture::Point center, double radius, const picture::Paint& paint) {
  marks.push_back({.kind = SceneMark::Kind::kDisc, .points = {center}, .size = radius, .paint = paint});
}

void Scene::Stroke(absl::Span<const picture::Point> line, const picture::Pen& pen) {
  marks.push_back({.kind = SceneMark::Kind::kLine,
                   .points = {line.begin(), line.end()},
                   .size = pen.width,
                   .paint = pen.paint,
                   .dash = pen.dash});
}

void Scene::Write(absl::string_view text, picture::Point at, const picture::TextStyle& style) {
  marks.push_back({.kind = SceneMark::Kind::kText,
                   .points = {at},
                   .size = style.size,
                   .paint = {style.color},
                   .text = std::string(text),
                   .anchor = style.anchor});
}

void Scene::Show(const picture::Canvas& image, int x, int y) {
  ground.push_back({.x = x, .y = y, .image = image});
}

void Scene::StrokeIn(const picture::Box& box, absl::Span<const picture::Point> line,
                     const picture::Pen& pen) {
  for (const std::vector<picture::Point>& part : picture::PartsIn(box, line)) {
    Stroke(part, pen);
  }
}

absl::Status PaintScene(const Scene& scene, picture::Surface& surface, const Budget& budget) {
  // A mark may cover a large part of the picture.
  constexpr std::size_t kMarksBetweenLooks = 16;
  const BudgetStop stop(budget);
  for (const SceneGround& ground : scene.ground) {
    surface.Show(ground.image, ground.x, ground.y);
  }
  for (std::size_t i = 0; i < scene.marks.size(); ++i) {
    if (i % kMarksBetweenLooks == 0) {
      WAYSTAR_RETURN_IF_ERROR(stop.Check());
    }
    const SceneMark& mark = scene.marks[i];
    switch (mark.kind) {
      case SceneMark::Kind::kArea:
        surface.Fill(mark.points, mark.paint);
        break;
      case SceneMark::Kind::kLine:
        surface.Stroke(mark.points, {mark.paint, mark.size, mark.dash});
        break;
      case SceneMark::Kind::kDisc:
        surface.FillDisc(mark.points.front(), mark.size, mark.paint);
        break;
      case SceneMark::Kind::kText:
        surface.Write(mark.text, mark.points.front(), {mark.paint.color, mark.size, mark.anchor});
        break;
    }
  }
  return stop.Check();
}

absl::StatusOr<std::string> SceneText(const Scene& scene, const Budget& budget) {
  constexpr std::size_t kMarksBetweenLooks = 256;
  const BudgetStop stop(budget);
  constexpr std::size_t kNarrowestLegend = 60;
  TextSheet sheet(scene.width, scene.height);
  for (const SceneGround& ground : scene.ground) {
    for (std::size_t i = 0; i < ground.symbols.size(); ++i) {
      const auto columns = static_cast<std::size_t>(ground.image.width());
      if (i % columns == 0) {
        WAYSTAR_RETURN_IF_ERROR(stop.Check());
      }
      sheet.Put(ground.x + static_cast<int>(i % columns), ground.y + static_cast<int>(i / columns),
                ground.symbols[i]);
    }
  }
  for (std::size_t i = 0; i < scene.marks.size(); ++i) {
    if (i % kMarksBetweenLooks == 0) {
      WAYSTAR_RETURN_IF_ERROR(stop.Check());
    }
    WriteMark(scene.marks[i], sheet);
  }
  return sheet.Join() +
         LegendText(scene.legend, std::max(kNarrowestLegend, static_cast<std::size_t>(scene.width)));
}

}  // namespace waystar::core
