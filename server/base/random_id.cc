#include "server/base/random_id.h"

#include <unistd.h>

#include <chrono>

namespace waystar {
namespace {

// The finalizer of SplitMix64 (Steele, Lea and Flood, 2014), a bijection on 64 bits.
std::uint64_t Mix(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

}  // namespace

std::uint64_t RandomId() {
  std::uint64_t id = 0;
  while (id == 0) {
    std::uint64_t random = 0;
    // If it fails, the time still distinguishes ids.
    static_cast<void>(getentropy(&random, sizeof(random)));
    const auto wall = std::chrono::system_clock::now().time_since_epoch().count();
    const auto steady = std::chrono::steady_clock::now().time_since_epoch().count();
    id = random ^ Mix(static_cast<std::uint64_t>(wall) ^ Mix(static_cast<std::uint64_t>(steady)));
  }
  return id;
}

}  // namespace waystar
