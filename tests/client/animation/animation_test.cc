#include <gif_lib.h>
#include <webp/demux.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/animation/film.h"
#include "gmock/gmock.h"
#include "server/render/canvas/palette.h"

namespace waystar::animation {
namespace {

using ::testing::SizeIs;

constexpr picture::Color kWhite = picture::Rgb(0xFFFFFF);
constexpr picture::Color kRed = picture::Rgb(0xE02020);

// A red square that appears on a white picture.
Animation Square() {
  Animation animation{.width = 30, .height = 20};
  animation.frames.push_back({.part = picture::Canvas(30, 20, kWhite), .milliseconds = 500});
  animation.frames.push_back({.x = 10, .y = 5, .part = picture::Canvas(4, 3, kRed), .milliseconds = 80});
  return animation;
}

int ReadGif(GifFileType* file, GifByteType* into, int count) {
  auto& left = *static_cast<absl::string_view*>(file->UserData);
  const std::size_t read = std::min(left.size(), static_cast<std::size_t>(count));
  std::memcpy(into, left.data(), read);
  left.remove_prefix(read);
  return static_cast<int>(read);
}

// The last picture that a file shows.
picture::Canvas LastOfGif(absl::string_view bytes) {
  GifFileType* file = DGifOpen(&bytes, &ReadGif, nullptr);
  EXPECT_NE(file, nullptr);
  EXPECT_EQ(DGifSlurp(file), GIF_OK);
  picture::Canvas canvas(file->SWidth, file->SHeight, kWhite);
  for (int i = 0; i < file->ImageCount; ++i) {
    const SavedImage& image = file->SavedImages[i];
    GraphicsControlBlock control;
    EXPECT_EQ(DGifSavedExtensionToGCB(file, i, &control), GIF_OK);
    for (int y = 0; y < image.ImageDesc.Height; ++y) {
      for (int x = 0; x < image.ImageDesc.Width; ++x) {
        const int index = image.RasterBits[y * image.ImageDesc.Width + x];
        if (index != control.TransparentColor) {
          const GifColorType color = file->SColorMap->Colors[index];
          canvas.Set(image.ImageDesc.Left + x, image.ImageDesc.Top + y, {color.Red, color.Green, color.Blue});
        }
      }
    }
  }
  DGifCloseFile(file, nullptr);
  return canvas;
}

TEST(GifTest, ShowsWhatWasDrawn) {
  const auto bytes = EncodeGif(Square());
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  picture::Canvas expected(30, 20, kWhite);
  expected.Paste(picture::Canvas(4, 3, kRed), 10, 5);
  EXPECT_EQ(LastOfGif(*bytes), expected);
}

TEST(GifTest, ManyColoursBecomeThoseThatAreNearest) {
  Animation animation{.width = 64, .height = 64};
  picture::Canvas canvas(64, 64, kWhite);
  for (int y = 0; y < 64; ++y) {
    for (int x = 0; x < 64; ++x) {
      canvas.Set(
          x, y,
          picture::Rgb(static_cast<std::uint32_t>(x * 4) << 16 | static_cast<std::uint32_t>(y * 4) << 8));
    }
  }
  animation.frames.push_back({.part = canvas});
  const auto bytes = EncodeGif(animation);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const picture::Canvas shown = LastOfGif(*bytes);
  for (int y = 0; y < 64; ++y) {
    for (int x = 0; x < 64; ++x) {
      ASSERT_NEAR(shown.At(x, y).r, x * 4, 40);
      ASSERT_NEAR(shown.At(x, y).g, y * 4, 40);
    }
  }
}

TEST(WebpTest, ShowsWhatWasDrawn) {
  const auto bytes = EncodeWebp(Square());
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const WebPData data = {reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size()};
  WebPAnimDecoder* decoder = WebPAnimDecoderNew(&data, nullptr);
  ASSERT_NE(decoder, nullptr);
  std::uint8_t* pixels = nullptr;
  int at = 0;
  while (WebPAnimDecoderHasMoreFrames(decoder) != 0) {
    ASSERT_NE(WebPAnimDecoderGetNext(decoder, &pixels, &at), 0);
  }
  const auto color_at = [&](int x, int y) {
    const std::uint8_t* pixel = pixels + (y * 30 + x) * 4;
    return picture::Color{pixel[0], pixel[1], pixel[2]};
  };
  EXPECT_EQ(at, 580);
  EXPECT_EQ(color_at(10, 5), kRed);
  EXPECT_EQ(color_at(13, 7), kRed);
  EXPECT_EQ(color_at(14, 7), kWhite);
  WebPAnimDecoderDelete(decoder);
}

TracedSearch SearchOf(int cells) {
  TracedSearch search;
  search.name = "A*";
  for (int x = 0; x < cells; ++x) {
    for (const auto kind : {v1::SearchEvent::KIND_GENERATED, v1::SearchEvent::KIND_EXPANDED}) {
      v1::SearchEvent event;
      event.set_kind(kind);
      event.mutable_cell()->set_x(x);
      event.set_g(x);
      search.events.push_back(event);
    }
  }
  search.answer.set_outcome(v1::OUTCOME_FOUND);
  search.answer.mutable_path()->mutable_start();
  return search;
}

std::vector<SearchPanel> PanelsOf(const std::vector<int>& searches) {
  std::vector<SearchPanel> panels;
  for (const int cells : searches) {
    panels.emplace_back(SearchOf(cells), picture::Canvas(200, 10, kWhite),
                        picture::Tiling{.zero = {5, 5}, .x_step = {10, 0}, .y_step = {0, 10}});
  }
  return panels;
}

TEST(FilmTest, ShowsEachExpansionOfTheLongestSearch) {
  EXPECT_THAT(FilmOf(PanelsOf({12}), 100).frames, SizeIs(13));
  const Animation film = FilmOf(PanelsOf({3, 12}), 100);
  EXPECT_THAT(film.frames, SizeIs(13));
  EXPECT_GT(film.width, 400);
}

TEST(FilmTest, LeavesOutFramesOfLongSearches) {
  const Animation film = FilmOf(PanelsOf({20}), 6);
  EXPECT_THAT(film.frames, SizeIs(6));
  EXPECT_GT(film.frames.back().milliseconds, 1000);
}

TEST(CellPanelTest, PathHasItsColourAndLiesBelowTheStart) {
  constexpr int kHeading = 26;
  TracedSearch search = SearchOf(12);
  for (const int x : {0, 11}) {
    search.answer.mutable_path()->add_points()->set_x(x);
  }
  SearchPanel panel(std::move(search), picture::Canvas(200, 10, kWhite),
                    picture::Tiling{.zero = {5, 5}, .x_step = {10, 0}, .y_step = {0, 10}});
  panel.AdvanceTo(11);
  EXPECT_NE(panel.Draw().At(60, kHeading + 5), kColors.path);
  panel.AdvanceTo(12);
  EXPECT_EQ(panel.Draw().At(60, kHeading + 5), kColors.path);
  EXPECT_EQ(panel.Draw().At(5, kHeading + 5), picture::kLightPalette.start);
}

// A search on a waypoint graph whose positions are pixels of its picture.
class GraphSearch {
 public:
  GraphSearch() {
    search_.on_graph = true;
    search_.name = "A*";
    search_.answer.set_outcome(v1::OUTCOME_FOUND);
  }

  void Generate(const std::string& node, double x, double y, const std::string& parent, double g) {
    v1::SearchEvent& event = Add(v1::SearchEvent::KIND_GENERATED, node, g);
    event.set_parent_node(parent);
    *event.mutable_position() = PositionAt(x, y);
  }

  void Expand(const std::string& node, double g) { Add(v1::SearchEvent::KIND_EXPANDED, node, g); }

  void SetEnds(const std::string& start, const std::string& goal) {
    search_.query.mutable_start()->set_node(start);
    search_.query.add_goals()->set_node(goal);
  }

  SearchPanel Panel(int width, int height) const {
    return {search_, picture::Canvas(width, height, kWhite), picture::Tiling{}};
  }

  static v1::Position PositionAt(double x, double y) {
    v1::Position position;
    position.set_x(x);
    position.set_y(y);
    return position;
  }

  TracedSearch search_;

 private:
  v1::SearchEvent& Add(v1::SearchEvent::Kind kind, const std::string& node, double g) {
    v1::SearchEvent& event = search_.events.emplace_back();
    event.set_kind(kind);
    event.set_node(node);
    event.set_g(g);
    return event;
  }
};

// Of the map that is drawn below the panel's heading.
picture::Color ColorAt(const SearchPanel& panel, int x, int y) {
  constexpr int kHeading = 26;
  return panel.Draw().At(x, kHeading + y);
}

// From the harbour by the ford to the lighthouse, past a cave that is never expanded.
GraphSearch SearchOfIslands() {
  GraphSearch islands;
  islands.SetEnds("harbour", "lighthouse");
  islands.Generate("harbour", 20, 40, "", 0);
  islands.Expand("harbour", 0);
  islands.Generate("ford", 60, 40, "harbour", 40);
  islands.Generate("cave", 20, 90, "harbour", 50);
  islands.Expand("ford", 40);
  islands.Generate("lighthouse", 100, 40, "ford", 80);
  for (const int x : {20, 60, 100}) {
    *islands.search_.answer.mutable_path()->add_positions() = GraphSearch::PositionAt(x, 40);
  }
  return islands;
}

TEST(GraphPanelTest, EdgeToAnExpandedNodeTakesItsColour) {
  GraphSearch islands = SearchOfIslands();
  islands.Expand("cave", 50);
  SearchPanel panel = islands.Panel(120, 120);
  panel.AdvanceTo(2);
  EXPECT_EQ(ColorAt(panel, 40, 40), picture::SearchColor(0.8));
  EXPECT_EQ(ColorAt(panel, 20, 65), kWhite);
}

TEST(GraphPanelTest, EdgeComesFromTheLastParent) {
  GraphSearch graph;
  graph.SetEnds("a", "far");
  graph.Generate("a", 20, 20, "", 0);
  graph.Expand("a", 0);
  graph.Generate("b", 100, 20, "a", 90);
  graph.Generate("c", 20, 100, "a", 10);
  graph.Expand("c", 10);
  graph.Generate("b", 100, 20, "c", 20);
  graph.Expand("b", 20);
  graph.Generate("d", 100, 100, "b", 30);
  graph.Expand("d", 30);
  SearchPanel panel = graph.Panel(120, 120);
  panel.AdvanceTo(3);
  EXPECT_EQ(ColorAt(panel, 60, 20), kWhite);
  EXPECT_NE(ColorAt(panel, 60, 60), kWhite);
}

TEST(GraphPanelTest, ShowsEndsThenRingsThenFilledNodesThenThePathBelowThem) {
  SearchPanel panel = SearchOfIslands().Panel(120, 120);
  EXPECT_EQ(panel.expansions(), 2U);
  EXPECT_EQ(ColorAt(panel, 20, 40), picture::kLightPalette.start);
  EXPECT_EQ(ColorAt(panel, 100, 40), picture::kLightPalette.goal);
  for (const int x : {40, 60, 65}) {
    EXPECT_EQ(ColorAt(panel, x, 40), kWhite);
  }
  panel.AdvanceTo(1);
  for (const auto& [x, y] : {std::pair(60, 40), {20, 90}}) {
    EXPECT_EQ(ColorAt(panel, x, y), kWhite);
    EXPECT_EQ(ColorAt(panel, x + 5, y), picture::kLightPalette.open);
  }
  EXPECT_EQ(ColorAt(panel, 40, 40), kWhite);
  panel.AdvanceTo(2);
  EXPECT_EQ(ColorAt(panel, 60, 40), picture::SearchColor(1));
  EXPECT_EQ(ColorAt(panel, 20, 90), kWhite);
  EXPECT_EQ(ColorAt(panel, 25, 90), picture::kLightPalette.open);
  panel.AdvanceTo(9);
  EXPECT_EQ(ColorAt(panel, 40, 40), kColors.path);
  EXPECT_EQ(ColorAt(panel, 80, 40), kColors.path);
  EXPECT_EQ(ColorAt(panel, 60, 40), picture::SearchColor(1));
  EXPECT_EQ(ColorAt(panel, 20, 40), picture::kLightPalette.start);
  EXPECT_EQ(ColorAt(panel, 100, 40), picture::kLightPalette.goal);
}

TEST(GraphPanelTest, NoEdgeCoversANode) {
  GraphSearch graph;
  graph.SetEnds("a", "far");
  graph.Generate("a", 20, 20, "", 0);
  graph.Expand("a", 0);
  graph.Generate("b", 60, 20, "a", 40);
  graph.Generate("c", 100, 20, "a", 80);
  graph.Expand("b", 40);
  graph.Expand("c", 80);
  SearchPanel panel = graph.Panel(120, 40);
  panel.AdvanceTo(3);
  EXPECT_EQ(ColorAt(panel, 60, 20), picture::SearchColor(0.5));
  EXPECT_EQ(ColorAt(panel, 80, 20), picture::SearchColor(1));
}

TEST(GraphPanelTest, PathBetweenPositionsNeedsNoNode) {
  GraphSearch graph;
  *graph.search_.query.mutable_start()->mutable_position() = GraphSearch::PositionAt(20, 20);
  *graph.search_.query.add_goals()->mutable_position() = GraphSearch::PositionAt(100, 20);
  *graph.search_.answer.mutable_path()->add_positions() = GraphSearch::PositionAt(20, 20);
  *graph.search_.answer.mutable_path()->add_positions() = GraphSearch::PositionAt(100, 20);
  SearchPanel panel = graph.Panel(120, 40);
  EXPECT_EQ(ColorAt(panel, 20, 20), picture::kLightPalette.start);
  EXPECT_EQ(ColorAt(panel, 60, 20), kWhite);
  panel.AdvanceTo(1);
  EXPECT_EQ(ColorAt(panel, 60, 20), kColors.path);
  EXPECT_EQ(ColorAt(panel, 100, 20), picture::kLightPalette.goal);
}

TEST(GraphPanelTest, NodesOfALargeGraphAreDots) {
  GraphSearch graph;
  graph.SetEnds("0", "far");
  for (int i = 0; i < 1000; ++i) {
    graph.Generate(absl::StrCat(i), 10 + i % 40 * 10, 10 + i / 40 * 10, i == 0 ? "" : "0", i);
  }
  SearchPanel panel = graph.Panel(420, 270);
  panel.AdvanceTo(1);
  EXPECT_EQ(ColorAt(panel, 200, 200), picture::kLightPalette.open);
  EXPECT_EQ(ColorAt(panel, 203, 200), kWhite);
  // Few of them are searched.
  GraphSearch islands = SearchOfIslands();
  islands.search_.graph_nodes = 1000;
  SearchPanel few = islands.Panel(120, 120);
  few.AdvanceTo(1);
  EXPECT_EQ(ColorAt(few, 60, 40), picture::kLightPalette.open);
  EXPECT_EQ(ColorAt(few, 65, 40), kWhite);
}

TEST(GraphPanelTest, WhatLiesBeyondThePictureIsNotDrawn) {
  GraphSearch graph = SearchOfIslands();
  *graph.search_.query.mutable_start()->mutable_position() = GraphSearch::PositionAt(-1e12, 40);
  *graph.search_.answer.mutable_path()->mutable_positions(0) = GraphSearch::PositionAt(-1e12, 40);
  SearchPanel panel = graph.Panel(120, 120);
  panel.AdvanceTo(9);
  EXPECT_EQ(ColorAt(panel, 40, 40), kColors.path);
  EXPECT_EQ(ColorAt(panel, 100, 40), picture::kLightPalette.goal);
}

// A start at the left of a wall with a gap: a first interval in the gap, a second behind it, and another that
// is seen from the gap's end.
class MeshSearch {
 public:
  MeshSearch() {
    search_.on_mesh = true;
    search_.name = "Polyanya";
    search_.answer.set_outcome(v1::OUTCOME_FOUND);
    *search_.query.mutable_start()->mutable_position() = At({10, 60});
    *search_.query.add_goals()->mutable_position() = At({110, 60});
    Generate(1, 0, {50, 50}, {50, 70}, {10, 60}, 0);
    Expand(1);
    Generate(2, 1, {90, 40}, {90, 80}, {10, 60}, 0);
    Generate(3, 1, {90, 10}, {90, 40}, {50, 50}, 41);
    Expand(2);
    Expand(3);
    Generate(4, 2, {115, 40}, {115, 80}, {10, 60}, 0);
    *search_.answer.mutable_path()->add_positions() = At({10, 60});
    *search_.answer.mutable_path()->add_positions() = At({110, 60});
  }

  SearchPanel Panel() const { return {search_, picture::Canvas(120, 120, kWhite), picture::Tiling{}}; }

 private:
  static v1::Position At(picture::Point point) {
    v1::Position position;
    position.set_x(point.x);
    position.set_y(point.y);
    return position;
  }

  void Generate(std::uint32_t id, std::uint32_t parent, picture::Point left, picture::Point right,
                picture::Point root, double g) {
    v1::SearchEvent& event = search_.events.emplace_back();
    event.set_kind(v1::SearchEvent::KIND_GENERATED);
    event.set_g(g);
    v1::MeshInterval& interval = *event.mutable_interval();
    interval.set_id(id);
    interval.set_parent(parent);
    *interval.mutable_left() = At(left);
    *interval.mutable_right() = At(right);
    *interval.mutable_root() = At(root);
  }

  void Expand(std::uint32_t id) {
    v1::SearchEvent& event = search_.events.emplace_back();
    event.set_kind(v1::SearchEvent::KIND_EXPANDED);
    event.mutable_interval()->set_id(id);
  }

  TracedSearch search_;
};

TEST(MeshPanelTest, ExpandedIntervalsFillWhatIsSeenBeforeThem) {
  SearchPanel panel = MeshSearch().Panel();
  EXPECT_EQ(panel.expansions(), 3U);
  EXPECT_EQ(ColorAt(panel, 10, 60), picture::kLightPalette.start);
  EXPECT_EQ(ColorAt(panel, 40, 60), kWhite);
  panel.AdvanceTo(1);
  const picture::Color first = ColorAt(panel, 40, 60);
  EXPECT_NE(first, kWhite);
  EXPECT_EQ(ColorAt(panel, 40, 40), kWhite);
  // Nothing is filled behind it, and the next ones are lines.
  EXPECT_EQ(ColorAt(panel, 70, 55), kWhite);
  EXPECT_EQ(ColorAt(panel, 89, 70), picture::kLightPalette.open);
  EXPECT_EQ(ColorAt(panel, 89, 20), picture::kLightPalette.open);
  panel.AdvanceTo(2);
  EXPECT_EQ(ColorAt(panel, 40, 60), first);
  const picture::Color second = ColorAt(panel, 70, 55);
  EXPECT_NE(second, kWhite);
  EXPECT_NE(second, first);
  EXPECT_EQ(ColorAt(panel, 89, 20), picture::kLightPalette.open);
  // That from another root is a triangle of its own.
  EXPECT_EQ(ColorAt(panel, 80, 35), kWhite);
  panel.AdvanceTo(3);
  EXPECT_NE(ColorAt(panel, 80, 35), kWhite);
  EXPECT_EQ(ColorAt(panel, 60, 20), kWhite);
}

TEST(MeshPanelTest, PathLiesOnTop) {
  SearchPanel panel = MeshSearch().Panel();
  panel.AdvanceTo(2);
  EXPECT_NE(ColorAt(panel, 60, 60), kColors.path);
  panel.AdvanceTo(3);
  EXPECT_EQ(ColorAt(panel, 40, 60), kColors.path);
  EXPECT_EQ(ColorAt(panel, 60, 60), kColors.path);
  EXPECT_EQ(ColorAt(panel, 100, 60), kColors.path);
}

}  // namespace
}  // namespace waystar::animation
