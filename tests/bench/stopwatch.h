// How long something takes.
#pragma once

#include <chrono>
#include <ctime>

namespace waystar::bench {

// Of one call of function(), in microseconds.
template <typename Function>
double MicrosOf(Function function) {
  const auto begin = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

// As above, but the time that this thread had a processor: what runs beside it counts only by what it pushes
// out of the caches. A call takes a few tenths of a microsecond by itself.
template <typename Function>
double ThreadMicrosOf(Function function) {
  const auto now = [] {
    std::timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
  };
  const double begin = now();
  function();
  return now() - begin;
}

}  // namespace waystar::bench
