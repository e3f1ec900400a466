// Node tables of searches that reach few cells: jump points and turning points.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "server/core/grid/cells/cost.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Cell packed so that integer order is row-major order.
using PackedCell = std::uint32_t;

inline PackedCell Pack(Cell cell) {
  return static_cast<PackedCell>(cell.y) << 16 | static_cast<PackedCell>(cell.x);
}

inline Cell Unpack(PackedCell packed) {
  return {static_cast<std::int32_t>(packed & 0xFFFFU), static_cast<std::int32_t>(packed >> 16)};
}

using NodeIndex = std::uint32_t;
inline constexpr NodeIndex kNoNode = std::numeric_limits<NodeIndex>::max();

struct JumpNode {
  // Minimum cost from the start so far.
  Cost g = 0;
  PackedCell cell = 0;
  // Predecessor; the node's own index at the start. The two are connected by a straight line of any angle
  // with Lazy Theta*, and with jump points by a diagonal run, a straight run, or both in this order.
  NodeIndex parent = kNoNode;
  // Slot of the table that holds this node's index.
  std::uint32_t slot = 0;
  // For use by the engine; 0 in a new node. With jump points: the directions to expand, and those expanded at
  // this g.
  std::uint8_t todo = 0;
  std::uint8_t done = 0;
};

// Nodes of one search in the order in which they were reached, with a hash index by cell. Memory grows with
// the largest search so far. Clear costs O(1).
//
// The hash table of indices is never cleared: an entry is valid only if the node it refers to exists and
// refers back to it (Briggs, Torczon, "An Efficient Representation for Sparse Sets", 1993).
//
// Not thread-safe.
class NodeTable {
 public:
  void Clear() { nodes_.clear(); }

  std::size_t size() const { return nodes_.size(); }
  std::size_t memory_bytes() const {
    return nodes_.capacity() * sizeof(JumpNode) + slots_.capacity() * sizeof(slots_[0]);
  }
  // Returns the bytes used by the current search.
  std::size_t used_bytes() const { return nodes_.size() * (sizeof(JumpNode) + 2 * sizeof(slots_[0])); }

  JumpNode& operator[](NodeIndex index) { return nodes_[index]; }
  const JumpNode& operator[](NodeIndex index) const { return nodes_[index]; }

  // Returns the node of a cell, or kNoNode.
  NodeIndex Find(Cell cell) const { return slots_.empty() ? kNoNode : Probe(Pack(cell)).node; }

  // Returns the node of a cell; adds one with g = kUnreached if there is none.
  // REQUIRES: !IsFull().
  static constexpr Cost kUnreached = std::numeric_limits<Cost>::max();
  NodeIndex FindOrAdd(Cell cell) {
    const PackedCell packed = Pack(cell);
    const Place place = Probe(packed);
    if (place.node != kNoNode) {
      return place.node;
    }
    const auto index = static_cast<NodeIndex>(nodes_.size());
    slots_[place.slot] = index;
    nodes_.push_back({.g = kUnreached, .cell = packed, .slot = place.slot});
    return index;
  }

  // Returns true if the next new node needs more memory; call Grow first.
  bool IsFull() const { return nodes_.size() == nodes_.capacity(); }
  // Doubles the capacity to grown_bytes() bytes.
  void Grow();
  std::size_t grown_bytes() const {
    return GrownCapacity() * sizeof(JumpNode) + SlotsFor(GrownCapacity()) * sizeof(slots_[0]);
  }

 private:
  struct Place {
    std::uint32_t slot;
    NodeIndex node;
  };

  std::size_t GrownCapacity() const { return std::max<std::size_t>(2 * nodes_.capacity(), 1024); }
  static std::size_t SlotsFor(std::size_t capacity) { return std::bit_ceil(2 * capacity); }

  // Returns the node of a cell with its slot, or the free slot for its index.
  Place Probe(PackedCell packed) const {
    const auto mask = static_cast<std::uint32_t>(slots_.size() - 1);
    auto slot = static_cast<std::uint32_t>((packed * std::uint64_t{0x9E3779B97F4A7C15}) >> shift_);
    while (true) {
      const NodeIndex index = slots_[slot];
      if (index >= nodes_.size() || nodes_[index].slot != slot) {
        return {slot, kNoNode};
      }
      if (nodes_[index].cell == packed) {
        return {slot, index};
      }
      slot = (slot + 1) & mask;
    }
  }

  std::vector<JumpNode> nodes_;
  // Its size is a power of two, at least twice the capacity of nodes_.
  std::vector<NodeIndex> slots_;
  unsigned shift_ = 0;
};

}  // namespace waystar::core
