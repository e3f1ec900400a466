#include "client/animation/animation.h"

#include <gif_lib.h>
#include <webp/demux.h>

#include <algorithm>
#include <cstring>

#include "client/animation/film.h"
#include "gmock/gmock.h"

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
  search.answer.mutable_start();
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

TEST(FilmTest, ShowsEachExpansion) { EXPECT_THAT(FilmOf(PanelsOf({12}), 100).frames, SizeIs(13)); }

TEST(FilmTest, SearchesSideBySideTakeAsLongAsTheLongest) {
  const Animation film = FilmOf(PanelsOf({3, 12}), 100);
  EXPECT_THAT(film.frames, SizeIs(13));
  EXPECT_GT(film.width, 400);
}

TEST(FilmTest, LeavesOutFramesOfLongSearches) {
  const Animation film = FilmOf(PanelsOf({20}), 6);
  EXPECT_THAT(film.frames, SizeIs(6));
  EXPECT_GT(film.frames.back().milliseconds, 1000);
}

}  // namespace
}  // namespace waystar::animation
