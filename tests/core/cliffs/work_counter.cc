#include "tests/core/cliffs/work_counter.h"

namespace {

constinit thread_local std::uint64_t work = 0;

constexpr std::size_t kBytesOfAStep = 64;

}  // namespace

namespace waystar {

std::uint64_t WorkSoFar() { return work; }

}  // namespace waystar

// The compiler calls it in each basic block of what is compiled with -fsanitize-coverage=trace-pc; the linker
// calls the others for what they wrap (--wrap).
extern "C" {

void __sanitizer_cov_trace_pc();
void* __real_memcpy(void* to, const void* from, std::size_t size);
void* __real_memmove(void* to, const void* from, std::size_t size);
void* __real_memset(void* to, int value, std::size_t size);
void* __wrap_memcpy(void* to, const void* from, std::size_t size);
void* __wrap_memmove(void* to, const void* from, std::size_t size);
void* __wrap_memset(void* to, int value, std::size_t size);

void __sanitizer_cov_trace_pc() { ++work; }

void* __wrap_memcpy(void* to, const void* from, std::size_t size) {
  work += size / kBytesOfAStep;
  return __real_memcpy(to, from, size);
}

void* __wrap_memmove(void* to, const void* from, std::size_t size) {
  work += size / kBytesOfAStep;
  return __real_memmove(to, from, size);
}

void* __wrap_memset(void* to, int value, std::size_t size) {
  work += size / kBytesOfAStep;
  return __real_memset(to, value, size);
}
}
