#include "server/formats/text/number.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"

namespace waystar::core {
namespace {

TEST(ShortestTextTest, WritesNumbersAsPeopleDo) {
  for (const auto& [number, text] : {std::pair(1.4, "1.4"),
                                     {0.1, "0.1"},
                                     {0.0, "0"},
                                     {-50.0, "-50"},
                                     {100000.0, "100000"},
                                     {1.0 / 3.0, "0.3333333333333333"},
                                     {1e30, "1e+30"},
                                     {2.5e-9, "2.5e-09"}}) {
    EXPECT_EQ(ShortestText(number), text);
  }
}

TEST(ShortestTextTest, ReadsBackAsTheSameNumber) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const double number = std::bit_cast<double>(random());
    if (std::isfinite(number)) {
      double read = 0;
      ASSERT_TRUE(absl::SimpleAtod(ShortestText(number), &read));
      ASSERT_EQ(read, number);
    }
  }
  for (const double number : {std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min(),
                              1e16, std::nextafter(1e16, 0.0), 1e-5, std::nextafter(1e-5, 0.0)}) {
    double read = 0;
    ASSERT_TRUE(absl::SimpleAtod(ShortestText(number), &read));
    EXPECT_EQ(read, number);
  }
}

}  // namespace
}  // namespace waystar::core
