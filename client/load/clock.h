#pragma once

#include <chrono>

namespace waystar::load {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
using Nanos = std::chrono::nanoseconds;

}  // namespace waystar::load
