#include "tests/core/grid/search/allocation_counter.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

constinit thread_local std::int64_t allocation_count = 0;
// The count at which an allocation of the thread fails.
constinit thread_local std::int64_t failing = std::numeric_limits<std::int64_t>::max();
constinit std::atomic<std::int64_t> live_bytes = 0;

void* Count(void* memory) noexcept {
  ++allocation_count;
  live_bytes.fetch_add(static_cast<std::int64_t>(malloc_usable_size(memory)), std::memory_order_relaxed);
  return memory;
}

void Free(void* memory) noexcept {
  live_bytes.fetch_sub(static_cast<std::int64_t>(malloc_usable_size(memory)), std::memory_order_relaxed);
  std::free(memory);
}

bool MayAllocate() noexcept { return allocation_count != failing || ++allocation_count == 0; }

// Null if there is no memory. No hook is called first: tests set none.
void* Allocate(std::size_t size) noexcept {
  return MayAllocate() ? Count(std::malloc(std::max<std::size_t>(size, 1))) : nullptr;
}

void* Allocate(std::size_t size, std::align_val_t alignment) noexcept {
  void* memory = nullptr;
  const std::size_t align = std::max(static_cast<std::size_t>(alignment), sizeof(void*));
  return MayAllocate() && posix_memalign(&memory, align, std::max<std::size_t>(size, 1)) == 0 ? Count(memory)
                                                                                              : nullptr;
}

void* OrThrow(void* memory) { return memory != nullptr ? memory : throw std::bad_alloc(); }

}  // namespace

namespace waystar {

std::int64_t AllocationCount() { return allocation_count; }
FailingAllocation::FailingAllocation(std::int64_t after) { failing = allocation_count + after; }
FailingAllocation::~FailingAllocation() { failing = std::numeric_limits<std::int64_t>::max(); }
std::int64_t LiveBytes() { return live_bytes.load(std::memory_order_relaxed); }

}  // namespace waystar

void* operator new(std::size_t size) { return OrThrow(Allocate(size)); }
void* operator new[](std::size_t size) { return OrThrow(Allocate(size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return OrThrow(Allocate(size, alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return OrThrow(Allocate(size, alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return Allocate(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return Allocate(size); }
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return Allocate(size, alignment);
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return Allocate(size, alignment);
}

void operator delete(void* memory) noexcept { Free(memory); }
void operator delete[](void* memory) noexcept { Free(memory); }
void operator delete(void* memory, std::size_t) noexcept { Free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { Free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { Free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { Free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { Free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { Free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { Free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { Free(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept { Free(memory); }
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept { Free(memory); }
