// Open lists of searches, and limits on the memory that they keep.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/grid/cells/grid_settings.h"
#include "server/geometry/cell.h"

namespace waystar::core {

struct OpenEntry {
  // Estimated cost of a path through the cell.
  Cost f = 0;
  // Cost so far.
  Cost g = 0;
  // Cell packed so that integer order is row-major order.
  std::uint32_t packed_cell = 0;

  static OpenEntry Of(Cost f, Cost g, Cell cell) {
    return {f, g, static_cast<std::uint32_t>(cell.y) << 16 | static_cast<std::uint32_t>(cell.x)};
  }

  Cell cell() const {
    return {static_cast<std::int32_t>(packed_cell & 0xFFFFU), static_cast<std::int32_t>(packed_cell >> 16)};
  }

  // Smaller f first, then larger g, then row-major order.
  bool Precedes(const OpenEntry& other) const {
    if (f != other.f) {
      return f < other.f;
    }
    if (g != other.g) {
      return g > other.g;
    }
    return packed_cell < other.packed_cell;
  }
};

// 4-ary heaps in vectors. `Precedes` of their entries is a total order, so the next entry depends only on the
// content of the heap. Each call costs O(log n).
inline constexpr std::size_t kHeapArity = 4;

// Replaces the first entry by `entry`, and moves that down to its place.
template <typename Entry>
void Sink(std::vector<Entry>& heap, const Entry& entry) {
  Entry* const list = heap.data();
  const std::size_t size = heap.size();
  std::size_t hole = 0;
  for (std::size_t child = 1; child < size; child = hole * kHeapArity + 1) {
    const std::size_t end = std::min(child + kHeapArity, size);
    std::size_t best = child;
    for (std::size_t i = child + 1; i < end; ++i) {
      if (list[i].Precedes(list[best])) {
        best = i;
      }
    }
    if (!list[best].Precedes(entry)) {
      break;
    }
    list[hole] = list[best];
    hole = best;
  }
  list[hole] = entry;
}

template <typename Entry>
void PushEntry(std::vector<Entry>& heap, const Entry& entry) {
  std::size_t hole = heap.size();
  heap.push_back(entry);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kHeapArity;
    if (!entry.Precedes(heap[parent])) {
      break;
    }
    heap[hole] = heap[parent];
    hole = parent;
  }
  heap[hole] = entry;
}

// Removes and returns the first entry.
// REQUIRES: the heap is not empty.
template <typename Entry>
Entry PopEntry(std::vector<Entry>& heap) {
  const Entry first = heap.front();
  const Entry last = heap.back();
  heap.pop_back();
  if (!heap.empty()) {
    Sink(heap, last);
  }
  return first;
}

// 4-ary heap. A cell whose cost decreases is pushed again; the caller skips cells that it has expanded.
//
// Push and Pop cost O(log n). Clear keeps the memory.
class OpenList {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t memory_bytes() const { return heap_.capacity() * sizeof(OpenEntry); }
  std::size_t used_bytes() const { return heap_.size() * sizeof(OpenEntry); }
  // Returns true if the next Push needs more memory.
  bool IsFull() const { return heap_.size() == heap_.capacity(); }
  // Doubles the capacity to grown_bytes() bytes.
  void Grow() { heap_.reserve(GrownCapacity()); }
  std::size_t grown_bytes() const { return GrownCapacity() * sizeof(OpenEntry); }
  void Clear() { heap_.clear(); }

  void Push(const OpenEntry& entry) { PushEntry(heap_, entry); }

  // Removes and returns the first entry.
  // REQUIRES: !empty().
  OpenEntry Pop() { return PopEntry(heap_); }

 private:
  std::size_t GrownCapacity() const { return std::max<std::size_t>(2 * heap_.capacity(), 256); }

  std::vector<OpenEntry> heap_;
};

// Working memory kept between searches, under a limit.
// The limit applies to the memory of one search. Before a scratch refuses memory to the current search, it
// frees what earlier searches left: long lists when the next search starts, and memory that the search does
// not use once there is no room.

// Returns true if an empty list holds so large a part of the limit that the next search should start with a
// new one.
inline bool IsMuchToKeep(std::size_t bytes, std::size_t max_bytes) {
  constexpr std::size_t kShare = 32;
  return bytes > max_bytes / kShare;
}

// Frees the memory of a table beyond this size. Assigning {} to a vector frees none.
template <typename Element>
void CutTo(std::vector<Element>& table, std::size_t size) {
  if (table.capacity() > size) {
    table.resize(std::min(table.size(), size));
    table.shrink_to_fit();
  }
}

}  // namespace waystar::core
