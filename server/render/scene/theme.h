// Colours of map pictures: light ground, dark obstacles, and hues that remain distinguishable by lightness
// for colour-blind people.
#pragma once

#include <cstddef>

#include "server/core/grid/cells/grid_settings.h"
#include "server/render/canvas/canvas.h"

namespace waystar::core {

namespace theme {

inline constexpr picture::Color kGridLine = picture::Rgb(0x8895A3);
inline constexpr picture::Color kObstacle = picture::Rgb(0x3A4350);
inline constexpr picture::Color kNamedObstacle = picture::Rgb(0x7A4B74);
inline constexpr picture::Color kDearer = picture::Rgb(0xD1495B);
inline constexpr picture::Color kCheaper = picture::Rgb(0x3A9D6B);
inline constexpr picture::Color kFactor = picture::Rgb(0xB26B00);
inline constexpr picture::Color kPortal = picture::Rgb(0x8E44AD);
inline constexpr picture::Color kEdge = picture::Rgb(0x5B6472);
inline constexpr picture::Color kSightLine = picture::Rgb(0x9DB0C4);
inline constexpr picture::Color kClosedEdge = picture::Rgb(0xCC8F89);

}  // namespace theme

// Returns a colour suggested by the terrain's name or symbol, such as blue for water; else one of eight, by
// its index. Impassable terrain is darker.
picture::Color ColorOf(const Terrain& terrain, std::size_t index);

// Returns the colour of ground on which a step costs `ratio` times its terrain's cost.
picture::Color TintByCost(picture::Color ground, double ratio);

}  // namespace waystar::core
