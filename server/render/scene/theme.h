// Colours of map pictures.
#pragma once

#include <cstddef>

#include "server/core/grid/cells/grid_settings.h"
#include "server/render/canvas/canvas.h"

namespace waystar::core {

// The colours of a picture: light or dark ground, with hues that remain distinguishable by lightness for
// colour-blind people. The colours of a search are those of picture::SearchColor.
struct Palette {
  // Returns a colour suggested by the terrain's name or symbol, such as blue for water; else one of eight, by
  // its index. Impassable terrain is closer to obstacles.
  picture::Color ColorOf(const Terrain& terrain, std::size_t index) const;
  // Returns the colour of ground on which a step costs `ratio` times its terrain's cost.
  picture::Color TintByCost(picture::Color ground, double ratio) const;

  bool is_dark = false;
  // Background, text, and less important text.
  picture::Color paper;
  picture::Color ink;
  picture::Color faint;
  // Shaded sides of floors, and lines on the colours of a search.
  picture::Color shade;
  picture::Color grid_line;
  picture::Color obstacle;
  picture::Color named_obstacle;
  picture::Color dearer;
  picture::Color cheaper;
  // Outline of obstacles that multiply costs.
  picture::Color factor;
  picture::Color portal;
  picture::Color edge;
  picture::Color sight_line;
  picture::Color closed_edge;
  // The lowest and the highest polygon of a mesh.
  picture::Color low;
  picture::Color high;
  picture::Color start;
  picture::Color goal;
  picture::Color path;
  // Places that a search has generated but not expanded.
  picture::Color open;
};

inline constexpr Palette kLightPalette = {.paper = picture::kPaper,
                                          .ink = picture::kInk,
                                          .faint = picture::kFaint,
                                          .shade = picture::kInk,
                                          .grid_line = picture::Rgb(0x8895A3),
                                          .obstacle = picture::Rgb(0x3A4350),
                                          .named_obstacle = picture::Rgb(0x7A4B74),
                                          .dearer = picture::Rgb(0xD1495B),
                                          .cheaper = picture::Rgb(0x3A9D6B),
                                          .factor = picture::Rgb(0xB26B00),
                                          .portal = picture::Rgb(0x8E44AD),
                                          .edge = picture::Rgb(0x5B6472),
                                          .sight_line = picture::Rgb(0x9DB0C4),
                                          .closed_edge = picture::Rgb(0xCC8F89),
                                          .low = picture::Rgb(0x9FB8A4),
                                          .high = picture::Rgb(0xE7F0DC),
                                          .start = picture::kStartColor,
                                          .goal = picture::kGoalColor,
                                          .path = picture::kPathColor,
                                          .open = picture::kOpenColor};

inline constexpr Palette kDarkPalette = {.is_dark = true,
                                         .paper = picture::Rgb(0x14171C),
                                         .ink = picture::Rgb(0xE7E9ED),
                                         .faint = picture::Rgb(0x9AA2AF),
                                         .shade = picture::Rgb(0x0C0F13),
                                         .grid_line = picture::Rgb(0x7F8C9B),
                                         .obstacle = picture::Rgb(0x8793A2),
                                         .named_obstacle = picture::Rgb(0xD3AACE),
                                         .dearer = picture::Rgb(0xE0566A),
                                         .cheaper = picture::Rgb(0x6FE0A8),
                                         .factor = picture::Rgb(0xD98E2B),
                                         .portal = picture::Rgb(0xE0A8FF),
                                         .edge = picture::Rgb(0xAEB7C4),
                                         .sight_line = picture::Rgb(0x5F7084),
                                         .closed_edge = picture::Rgb(0xA8665F),
                                         .low = picture::Rgb(0x26352C),
                                         .high = picture::Rgb(0x55705F),
                                         .start = picture::Rgb(0x3DD17A),
                                         .goal = picture::Rgb(0xFF6B5A),
                                         .path = picture::Rgb(0x7FE3FF),
                                         .open = picture::Rgb(0x6FA6DE)};

}  // namespace waystar::core
