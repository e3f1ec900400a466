// Properties that hold for every seed of a generator.
#pragma once

#include <cstdint>

#include "gtest/gtest.h"
#include "tests/testing/random.h"

namespace waystar {

// Calls `body` with a source of random numbers for each seed below Rounds(`seeds`), until a check has failed.
template <typename Body>
void ForSeeds(std::uint64_t seeds, Body body) {
  for (std::uint64_t seed = 0; seed < Rounds(seeds) && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Random random(seed);
    body(random);
  }
}

}  // namespace waystar
