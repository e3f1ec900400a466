#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "absl/strings/str_split.h"
#include "server/render/canvas/canvas.h"

namespace waystar::picture {
namespace {

// Glyphs from space to '~'. Strokes are separated by spaces. A stroke is a list of points, each a digit for x
// and one for y: '0' is the top of capital letters, 'c' the baseline, 'g' the lowest descender. A stroke of
// one point is a dot.
constexpr std::array<absl::string_view, 95> kGlyphs = {
    "",                                            // space
    "1018 1c",                                     // !
    "0003 3033",                                   // "
    "202c 606c 0484 0888",                         // #
    "82602002042666888a6c2c0a 404c",               // $
    "103041433414030110 5878898b7c5c4b4958 800c",  // %
    "8c24122040524417091b3c5c88",                  // &
    "0003",                                        // '
    "2003092c",                                    // (
    "0023290c",                                    // )
    "3339 0468 0864",                              // *
    "3339 0666",                                   // +
    "1b1c0e",                                      // ,
    "0656",                                        // -
    "0c",                                          // .
    "500c",                                        // /
    "2050727a5c2c0a0220",                          // 0
    "12404c 1c7c",                                 // 1
    "02205072740c7c",                              // 2
    "01105072745626 56787a5c1c0b",                 // 3
    "5c500878",                                    // 4
    "7010061555777a5c1c0b",                        // 5
    "6040050a2c5c7a78562608",                      // 6
    "00703c",                                      // 7
    "205072745626040220 26080a2c5c7a7856",         // 8
    "1c3c777250200204265674",                      // 9
    "05 0c",                                       // :
    "15 1b1c0e",                                   // ;
    "52065a",                                      // <
    "0464 0868",                                   // =
    "02560a",                                      // >
    "02205072743738 3c",                           // ?
    "6c2c0a0220608288796864 644435374868",         // @
    "0c408c 1979",                                 // A
    "0c005072745606 56787a5c0c",                   // B
    "826020020a2c6c8a",                            // C
    "0c005083895c0c",                              // D
    "70000c7c 0656",                               // E
    "70000c 0656",                                 // F
    "826020020a2c6c8a8757",                        // G
    "000c 808c 0686",                              // H
    "000c",                                        // I
    "505a3c1c0b",                                  // J
    "000c 7007 347c",                              // K
    "000c6c",                                      // L
    "0c0046808c",                                  // M
    "0c008c80",                                    // N
    "2060828a6c2c0a0220",                          // O
    "0c005072755707",                              // P
    "2060828a6c2c0a0220 598c",                     // Q
    "0c005072755707 477c",                         // R
    "82602002042666888a6c2c0a",                    // S
    "0080 404c",                                   // T
    "000a2c6c8a80",                                // U
    "004c80",                                      // V
    "002c446c80",                                  // W
    "008c 800c",                                   // X
    "004680 464c",                                 // Y
    "00800c8c",                                    // Z
    "20000e2e",                                    // [
    "005c",                                        // backslash
    "00202e0e",                                    // ]
    "043064",                                      // ^
    "0e7e",                                        // _
    "0022",                                        // `
    "646c 664424060a2c4c6a",                       // a
    "000c 062444666a4c2c0a",                       // b
    "655424060a2c5c6b",                            // c
    "606c 664424060a2c4c6a",                       // d
    "0868664424060a2c5c6b",                        // e
    "5040222c 0454",                               // f
    "646e4g1g 664424060a2c4c6a",                   // g
    "000c 062444666c",                             // h
    "040c 00",                                     // i
    "242e0g 20",                                   // j
    "000c 6409 276c",                              // k
    "000b1c",                                      // l
    "040c 062434464c 466474868c",                  // m
    "040c 062444666c",                             // n
    "2444666a4c2c0a0624",                          // o
    "040g 062444666a4c2c0a",                       // p
    "646g 664424060a2c4c6a",                       // q
    "040c 072444",                                 // r
    "65541405071858696b5c1c0b",                    // s
    "212a4c5c 0454",                               // t
    "040a2c4c6a 646c",                             // u
    "043c64",                                      // v
    "042c466c84",                                  // w
    "046c 640c",                                   // x
    "043c 643c1g",                                 // y
    "04640c6c",                                    // z
    "30111507191d3e",                              // {
    "000e",                                        // |
    "00212537292d0e",                              // }
    "07255876",                                    // ~
};

// Distance of the baseline from the top, in glyph units.
constexpr double kUnits = 12.0;
constexpr double kSpaceUnits = 3.0;

absl::string_view GlyphOf(char symbol) {
  const bool is_known = symbol >= ' ' && symbol <= '~';
  return kGlyphs[static_cast<std::size_t>((is_known ? symbol : '?') - ' ')];
}

double UnitsOf(char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; }

// Rounds to whole pixels.
double Pixels(double units, double size) { return std::floor(units * size / kUnits + 0.5); }

double PenOf(double size) { return std::max(1.0, size / 7); }

// Includes the width of the pen.
double WidthOf(absl::string_view glyph, double size) {
  double width = glyph.empty() ? kSpaceUnits : 0.0;
  for (std::size_t i = 0; i < glyph.size(); i += 2) {
    i += glyph[i] == ' ' ? 1 : 0;
    width = std::max(width, UnitsOf(glyph[i]));
  }
  return Pixels(width, size) + std::floor(PenOf(size) + 0.5);
}

double GapOf(double size) { return std::floor(size / 5 + 0.5); }

}  // namespace

double TextWidth(absl::string_view text, double size) {
  double width = 0.0;
  for (const char symbol : text) {
    width += WidthOf(GlyphOf(symbol), size) + GapOf(size);
  }
  return std::max(0.0, width - GapOf(size));
}

std::vector<Polygon> TextOutline(absl::string_view text, Point origin, double size) {
  std::vector<Polygon> outline;
  const double pen = PenOf(size);
  // A pen of odd width is centred on the middle of a pixel.
  const double middle = static_cast<int>(pen + 0.5) % 2 == 0 ? 0.0 : 0.5;
  const double top = std::floor(origin.y + 0.5) - Pixels(kUnits, size) - middle;
  double left = std::floor(origin.x + 0.5) + std::floor(pen / 2) + middle;
  for (const char symbol : text) {
    const absl::string_view glyph = GlyphOf(symbol);
    for (const absl::string_view stroke : absl::StrSplit(glyph, ' ', absl::SkipEmpty())) {
      std::vector<Point> line;
      for (std::size_t i = 0; i + 1 < stroke.size(); i += 2) {
        line.push_back({left + Pixels(UnitsOf(stroke[i]), size), top + Pixels(UnitsOf(stroke[i + 1]), size)});
      }
      const double width = line.size() == 1 ? pen * 1.3 : pen;
      std::vector<Polygon> covered = StrokeOutline(line, width);
      outline.insert(outline.end(), std::make_move_iterator(covered.begin()),
                     std::make_move_iterator(covered.end()));
    }
    left += WidthOf(glyph, size) + GapOf(size);
  }
  return outline;
}

}  // namespace waystar::picture
