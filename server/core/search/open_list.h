// Open list of A*.
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

  // Smaller f first, then larger g, then row-major order. The order is total, so the next entry depends only
  // on the content of the list.
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

  void Push(const OpenEntry& entry) {
    std::size_t hole = heap_.size();
    heap_.push_back(entry);
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / kArity;
      if (!entry.Precedes(heap_[parent])) {
        break;
      }
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = entry;
  }

  // Removes and returns the first entry.
  // REQUIRES: !empty().
  OpenEntry Pop() {
    const OpenEntry first = heap_.front();
    const OpenEntry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) {
      SiftDown(last);
    }
    return first;
  }

 private:
  static constexpr std::size_t kArity = 4;

  std::size_t GrownCapacity() const { return std::max<std::size_t>(2 * heap_.capacity(), 256); }

  void SiftDown(const OpenEntry& entry) {
    std::size_t hole = 0;
    for (std::size_t child = 1; child < heap_.size(); child = hole * kArity + 1) {
      const std::size_t end = std::min(child + kArity, heap_.size());
      std::size_t best = child;
      for (std::size_t i = child + 1; i < end; ++i) {
        if (heap_[i].Precedes(heap_[best])) {
          best = i;
        }
      }
      if (!heap_[best].Precedes(entry)) {
        break;
      }
      heap_[hole] = heap_[best];
      hole = best;
    }
    heap_[hole] = entry;
  }

  std::vector<OpenEntry> heap_;
};

}  // namespace waystar::core
