#include "server/render/canvas/color.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace waystar::picture {

Color SearchColor(double share) {
  constexpr std::array<std::uint32_t, 5> kRamp = {0xFFE96B, 0xFDC04D, 0xF68E3B, 0xE4552B, 0xB71C2A};
  const double at = std::clamp(share, 0.0, 1.0) * (kRamp.size() - 1);
  const std::size_t below = std::min(static_cast<std::size_t>(at), kRamp.size() - 2);
  return Mix(Rgb(kRamp[below]), Rgb(kRamp[below + 1]), at - static_cast<double>(below));
}

}  // namespace waystar::picture
