#include "server/core/grid/search/scratch.h"

#include <algorithm>
#include <utility>

namespace waystar::core {

bool Scratch::Start(int width, int height) {
  Begin({.cells = true});
  return StartCells(width, height);
}

void Scratch::StartJumps(Cost first, int width_shift) {
  Begin({.nodes = true});
  buckets_.Start(first, width_shift);
}

bool Scratch::StartJumpsOverCells(const GridMap& map, Cost first, int width_shift) {
  Begin({.cells = true, .nodes = true});
  buckets_.Start(first, width_shift);
  return StartCells(map.width(), map.height());
}

bool Scratch::StartHierarchy(std::size_t node_count, Cost first, int width_shift) {
  Begin({.nodes = true, .hierarchy = true});
  for (BucketQueue& open : hierarchy_.open) {
    open.Start(first, width_shift);
  }
  node_count_ = node_count;
  std::vector<HierarchyNode>& nodes = hierarchy_.nodes;
  if (nodes.size() < node_count) {
    CutTo(nodes, 0);
    if (!HasRoom(node_count * sizeof(HierarchyNode))) {
      return false;
    }
    nodes.assign(node_count, HierarchyNode{});
    hierarchy_.generation = 0;
  }
  ++hierarchy_.generation;
  if (hierarchy_.generation == 0) {
    // The counter wrapped, as in StartCells.
    nodes.assign(nodes.size(), HierarchyNode{});
    hierarchy_.generation = 1;
  }
  return true;
}

void Scratch::Begin(const Parts& parts) {
  NoteUsed();
  in_use_ = parts;
  if (parts.cells) {
    used_tiles_ = true;
    next_tile_ = 0;
    Renew(open_);
    open_.Clear();
    dearest_cells_.Clear();
  }
  if (parts.nodes) {
    used_nodes_ = true;
    Renew(nodes_);
    nodes_.Clear();
    Renew(buckets_);
  }
  if (parts.hierarchy) {
    used_hierarchy_ = true;
    Renew(hierarchy_.open[0]);
    Renew(hierarchy_.open[1]);
  }
  ClearPath();
}

bool Scratch::StartCells(int width, int height) {
  const auto tiles_along = [](int cells) {
    return (static_cast<std::size_t>(cells) + kTileSide - 1) >> kTileShift;
  };
  tiles_per_row_ = tiles_along(width);
  tile_count_ = tiles_per_row_ * tiles_along(height);
  if (slots_.size() < tile_count_) {
    CutTo(slots_, 0);
    if (!HasRoom(tile_count_ * sizeof(TileSlot))) {
      return false;
    }
    slots_.resize(tile_count_);
  }
  ++generation_;
  if (generation_ == 0) {
    // The counter wrapped: slots of an old generation must not match a new one.
    slots_.assign(slots_.size(), TileSlot{});
    tiles_.clear();
    generation_ = 1;
  }
  return true;
}

template <typename List>
void Scratch::Renew(List& list) const {
  if (IsMuchToKeep(list.memory_bytes(), max_bytes_)) {
    list = List();
  }
}

bool Scratch::HasRoom(std::size_t bytes) {
  if (Fits(bytes)) {
    return true;
  }
  FreeUnused();
  return Fits(bytes);
}

bool Scratch::Fits(std::size_t bytes) {
  return memory_bytes() + bytes <= max_bytes_ && (whole_ == nullptr || whole_->HasRoom(bytes));
}

void Scratch::FreeUnused() {
  if (!in_use_.cells) {
    next_tile_ = 0;
    tile_count_ = 0;
    open_ = OpenList();
  }
  tiles_.resize(next_tile_);
  CutTo(slots_, tile_count_);
  if (!in_use_.nodes) {
    nodes_ = NodeTable();
    buckets_ = BucketQueue();
  }
  if (in_use_.hierarchy) {
    CutTo(hierarchy_.nodes, node_count_);
  } else {
    hierarchy_ = HierarchyScratch();
  }
  if (!has_portals_) {
    CutTo(portals_.open, 0);
    beside_ = nullptr;
  } else if (beside_ != nullptr) {
    beside_->FreeUnused();
  }
}

bool Scratch::Assign(std::size_t index) {
  if (next_tile_ == tiles_.size()) {
    if (!HasRoom(sizeof(Tile))) {
      return false;
    }
    tiles_.push_back(std::make_unique<Tile>());
  }
  // Assigned last, because making room may move the slots.
  slots_[index] = {.tile = tiles_[next_tile_].get(), .generation = generation_};
  ++next_tile_;
  return true;
}

void Scratch::ClearPath() {
  corners_.clear();
  directions_.clear();
  points_.clear();
}

bool Scratch::PushPortal(const PortalEntry& entry) {
  std::vector<PortalEntry>& open = portals_.open;
  if (open.size() == open.capacity()) {
    const std::size_t capacity = std::max<std::size_t>(2 * open.capacity(), 64);
    if (!HasRoom(capacity * sizeof(PortalEntry))) {
      return false;
    }
    open.reserve(capacity);
  }
  open.push_back(entry);
  return true;
}

Scratch& Scratch::beside() {
  // No search is in progress on either scratch.
  NoteUsed();
  in_use_ = {};
  has_portals_ = true;
  if (beside_ == nullptr) {
    beside_.reset(new Scratch(max_bytes_ / 2, this));
  }
  beside_->in_use_ = {};
  return *beside_;
}

std::size_t Scratch::memory_bytes() const {
  return tiles_.size() * sizeof(Tile) + slots_.capacity() * sizeof(TileSlot) + open_.memory_bytes() +
         nodes_.memory_bytes() + buckets_.memory_bytes() + hierarchy_.memory_bytes() +
         portals_.open.capacity() * sizeof(PortalEntry) + (beside_ == nullptr ? 0 : beside_->memory_bytes());
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

// The open list is shorter at the end of a search than at its peak. The node counts show how large the search
// was, so this estimate suffices.
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
