// Colours of map pictures.
#pragma once

#include <cstddef>

#include "absl/strings/string_view.h"
#include "server/render/canvas/canvas.h"

namespace waystar::picture {

// Returns a colour from yellow (0) to red (1) for the progress of a search at a place.
Color SearchColor(double share);

// The colours of a picture, which are those of the page: light or dark ground, with hues that remain
// distinguishable by lightness for colour-blind people. The colours of a search are those of SearchColor.
struct Palette {
  // Returns a colour suggested by a terrain's name or symbol, such as blue for water; else one of eight, by
  // its index. Impassable terrain is closer to obstacles.
  Color ColorOf(absl::string_view name, char symbol, bool is_impassable, std::size_t index) const;
  // Returns the colour of ground on which a step costs `ratio` times its terrain's cost.
  Color TintByCost(Color ground, double ratio) const;

  bool is_dark = false;
  // Background, text, and less important text.
  Color paper;
  Color ink;
  Color faint;
  // Shaded sides of floors, and lines on the colours of a search.
  Color shade;
  Color grid_line;
  Color obstacle;
  Color named_obstacle;
  Color dearer;
  Color cheaper;
  Color portal;
  Color edge;
  Color sight_line;
  Color closed_edge;
  // The lowest and the highest polygon of a mesh.
  Color low;
  Color high;
  Color start;
  Color goal;
  Color path;
  // Places that a search has generated but not expanded.
  Color open;
};

inline constexpr Palette kLightPalette = {.paper = Rgb(0xFFFFFF),
                                          .ink = Rgb(0x1F2933),
                                          .faint = Rgb(0x6B7785),
                                          .shade = Rgb(0x1F2933),
                                          .grid_line = Rgb(0x8895A3),
                                          .obstacle = Rgb(0x3A4350),
                                          .named_obstacle = Rgb(0x7A4B74),
                                          .dearer = Rgb(0xB8384A),
                                          .cheaper = Rgb(0x26794F),
                                          .portal = Rgb(0x8E44AD),
                                          .edge = Rgb(0x5B6472),
                                          .sight_line = Rgb(0x9DB0C4),
                                          .closed_edge = Rgb(0xB4524A),
                                          .low = Rgb(0x9FB8A4),
                                          .high = Rgb(0xE7F0DC),
                                          .start = Rgb(0x1F7A4D),
                                          .goal = Rgb(0xA61E4D),
                                          .path = Rgb(0x1F4FD8),
                                          .open = Rgb(0x4A7FB5)};

inline constexpr Palette kDarkPalette = {.is_dark = true,
                                         .paper = Rgb(0x14171C),
                                         .ink = Rgb(0xE7E9ED),
                                         .faint = Rgb(0x9AA2AF),
                                         .shade = Rgb(0x0C0F13),
                                         .grid_line = Rgb(0x7F8C9B),
                                         .obstacle = Rgb(0x8793A2),
                                         .named_obstacle = Rgb(0xD3AACE),
                                         .dearer = Rgb(0xEF8090),
                                         .cheaper = Rgb(0x6FE0A8),
                                         .portal = Rgb(0xE0A8FF),
                                         .edge = Rgb(0xAEB7C4),
                                         .sight_line = Rgb(0x5F7084),
                                         .closed_edge = Rgb(0xC98079),
                                         .low = Rgb(0x26352C),
                                         .high = Rgb(0x55705F),
                                         .start = Rgb(0x63D297),
                                         .goal = Rgb(0xFF7AA8),
                                         .path = Rgb(0x7FE3FF),
                                         .open = Rgb(0x6FA6DE)};

}  // namespace waystar::picture
