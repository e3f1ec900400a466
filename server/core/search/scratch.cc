#include "server/core/search/scratch.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace waystar::core {

void Scratch::Start(int width, int height) {
  NoteUsed();
  used_tiles_ = true;
  const auto tiles_along = [](int cells) {
    return (static_cast<std::size_t>(cells) + kTileSide - 1) >> kTileShift;
  };
  tiles_per_row_ = tiles_along(width);
  const std::size_t tile_count = tiles_per_row_ * tiles_along(height);
  if (slots_.size() < tile_count) {
    slots_.resize(tile_count);
  }
  next_tile_ = 0;
  open_.Clear();
  dearest_cells_.Clear();
  ClearPath();
  ++generation_;
  if (generation_ == 0) {
    // The counter has wrapped: whatever carries an old generation must not be taken for a new one.
    slots_.assign(slots_.size(), TileSlot{});
    tiles_.clear();
    generation_ = 1;
  }
}

bool Scratch::Assign(TileSlot& slot) {
  if (next_tile_ == tiles_.size()) {
    if (memory_bytes() + sizeof(Tile) > max_bytes_) {
      return false;
    }
    tiles_.push_back(std::make_unique<Tile>());
  }
  slot.tile = tiles_[next_tile_].get();
  slot.generation = generation_;
  ++next_tile_;
  return true;
}

bool Scratch::GrowOpen() {
  // While it grows, the list is there twice.
  if (memory_bytes() + 2 * open_.memory_bytes() > max_bytes_) {
    return false;
  }
  open_.Grow();
  return true;
}

void Scratch::StartJumps(Cost first, int width_shift) {
  NoteUsed();
  used_nodes_ = true;
  nodes_.Clear();
  buckets_.Start(first, width_shift);
  ClearPath();
}

bool Scratch::StartHierarchy(std::size_t node_count, Cost first, int width_shift) {
  NoteUsed();
  used_nodes_ = true;
  used_hierarchy_ = true;
  nodes_.Clear();
  ClearPath();
  for (BucketQueue& open : hierarchy_.open) {
    open.Start(first, width_shift);
  }
  std::vector<HierarchyNode>& nodes = hierarchy_.nodes;
  if (nodes.size() < node_count) {
    if (memory_bytes() + node_count * sizeof(HierarchyNode) > max_bytes_) {
      return false;
    }
    nodes.assign(node_count, HierarchyNode{});
    hierarchy_.generation = 0;
  }
  ++hierarchy_.generation;
  if (hierarchy_.generation == 0) {
    // The counter has wrapped, as in Start.
    nodes.assign(nodes.size(), HierarchyNode{});
    hierarchy_.generation = 1;
  }
  return true;
}

void Scratch::ClearPath() {
  corners_.clear();
  directions_.clear();
  points_.clear();
}

// While they grow, nodes and buckets are there twice.
bool Scratch::GrowNodes() {
  if (memory_bytes() + 2 * nodes_.memory_bytes() > max_bytes_) {
    return false;
  }
  nodes_.Grow();
  return true;
}

bool Scratch::GrowBuckets(BucketQueue& buckets) {
  if (memory_bytes() + 2 * buckets.memory_bytes() > max_bytes_) {
    return false;
  }
  buckets.Grow();
  return true;
}

Scratch& Scratch::beside() {
  if (beside_ == nullptr) {
    beside_ = std::make_unique<Scratch>(max_bytes_ / 2);
  }
  return *beside_;
}

std::size_t Scratch::memory_bytes() const {
  return tiles_.size() * sizeof(Tile) + slots_.capacity() * sizeof(TileSlot) + open_.memory_bytes() +
         nodes_.memory_bytes() + buckets_.memory_bytes() + hierarchy_.memory_bytes() +
         (beside_ == nullptr ? 0 : beside_->memory_bytes());
}

std::size_t Scratch::kept_bytes() const {
  const std::size_t own =
      tiles_.size() * sizeof(Tile) + tiles_.capacity() * sizeof(tiles_[0]) +
      slots_.capacity() * sizeof(TileSlot) + open_.memory_bytes() + nodes_.memory_bytes() +
      buckets_.memory_bytes() + hierarchy_.memory_bytes() + portals_.memory_bytes() +
      canonical_steps_.memory_bytes() + dearest_cells_.memory_bytes() +
      directions_.capacity() * sizeof(directions_[0]) + corners_.capacity() * sizeof(corners_[0]) +
      points_.capacity() * sizeof(points_[0]) + candidates_.capacity() * sizeof(candidates_[0]) +
      goals_.memory_bytes() + nearest_connected_buffer_.memory_bytes();
  return own + (beside_ == nullptr ? 0 : beside_->kept_bytes());
}

bool Scratch::OutgrewNeed(std::size_t small_bytes) {
  const std::size_t used = TakeUsed();
  const std::size_t kept = kept_bytes();
  return kept > small_bytes && kept / kMuch > used;
}

// An open list is shorter at the end of a search than it was. Nodes tell how wide the search was, so this is
// near enough.
void Scratch::NoteUsed() {
  std::size_t bytes = 0;
  if (used_tiles_) {
    bytes += next_tile_ * sizeof(Tile) + open_.used_bytes() + dearest_cells_.used_bytes();
  }
  if (used_nodes_) {
    bytes += nodes_.used_bytes() + buckets_.used_bytes();
  }
  if (used_hierarchy_) {
    bytes += hierarchy_.nodes.size() * sizeof(hierarchy_.nodes[0]) + hierarchy_.open[0].used_bytes() +
             hierarchy_.open[1].used_bytes();
  }
  used_bytes_ = std::max(used_bytes_, bytes);
}

std::size_t Scratch::TakeUsed() {
  NoteUsed();
  used_tiles_ = false;
  used_nodes_ = false;
  used_hierarchy_ = false;
  return std::exchange(used_bytes_, 0) + (beside_ == nullptr ? 0 : beside_->TakeUsed());
}

}  // namespace waystar::core
