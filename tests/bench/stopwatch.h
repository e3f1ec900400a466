// How long something takes.
#pragma once

#include <chrono>

namespace waystar::bench {

// Of one call of function(), in microseconds.
template <typename Function>
double MicrosOf(Function function) {
  const auto begin = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace waystar::bench
