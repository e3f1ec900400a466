// 128-bit integers for exact geometry.
#pragma once

#include <cstdint>

namespace waystar::core {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

// Return the quotient rounded down or up.
// REQUIRES: divisor > 0.
constexpr std::int64_t FloorDivide(Int128 dividend, std::int64_t divisor) {
  const Int128 quotient = dividend / divisor;
  return static_cast<std::int64_t>(dividend % divisor < 0 ? quotient - 1 : quotient);
}
constexpr std::int64_t CeilDivide(Int128 dividend, std::int64_t divisor) {
  return -FloorDivide(-dividend, divisor);
}

// Returns a * b <= c * d, comparing all 256 bits of the products.
constexpr bool IsProductAtMost(UInt128 a, UInt128 b, UInt128 c, UInt128 d) {
  struct Product {
    UInt128 high;
    UInt128 low;
  };
  const auto multiply = [](UInt128 x, UInt128 y) {
    constexpr UInt128 kLow = ~std::uint64_t{0};
    const UInt128 low = (x & kLow) * (y & kLow);
    const UInt128 cross_1 = (x >> 64) * (y & kLow);
    const UInt128 cross_2 = (x & kLow) * (y >> 64);
    const UInt128 middle = (low >> 64) + (cross_1 & kLow) + (cross_2 & kLow);
    return Product{(x >> 64) * (y >> 64) + (cross_1 >> 64) + (cross_2 >> 64) + (middle >> 64),
                   (middle << 64) | (low & kLow)};
  };
  const Product left = multiply(a, b);
  const Product right = multiply(c, d);
  return left.high != right.high ? left.high < right.high : left.low <= right.low;
}

}  // namespace waystar::core
