#include "server/core/mesh_search/mesh_scratch.h"

namespace waystar::core {

static_assert(sizeof(MeshInterval) == 72);

bool MeshScratch::Start(std::size_t vertex_count, std::size_t room_count, std::size_t polygon_count) {
  intervals_.clear();
  open_.clear();
  flooded_.clear();
  corners_.clear();
  corridor_.clear();
  start_polygons_.clear();
  goal_polygons_.clear();
  if (!Replace(reached_, vertex_count) || !Replace(rooms_, room_count) || !Replace(slots_, polygon_count)) {
    return false;
  }
  ++generation_;
  if (generation_ == 0) {
    // The counter has wrapped: whatever carries an old generation must not be taken for a new one.
    reached_.assign(reached_.size(), ReachedVertex{});
    rooms_.assign(rooms_.size(), 0);
    slots_.assign(slots_.size(), PolygonSlot{});
    generation_ = 1;
  }
  return true;
}

void MeshScratch::Free() {
  reached_ = {};
  rooms_ = {};
  intervals_ = {};
  open_ = {};
  slots_ = {};
  flooded_ = {};
  corners_ = {};
  corridor_ = {};
  start_polygons_ = {};
  goal_polygons_ = {};
}

std::size_t MeshScratch::counted_bytes() const {
  if (sharers_ == nullptr) {
    return memory_bytes();
  }
  std::size_t bytes = 0;
  for (const MeshScratch* sharer : *sharers_) {
    bytes += sharer->memory_bytes();
  }
  return bytes;
}

template <typename Element>
bool MeshScratch::Replace(std::vector<Element>& list, std::size_t size) {
  if (list.size() >= size) {
    return true;
  }
  const std::size_t kept = counted_bytes() - list.capacity() * sizeof(Element);
  if (kept + size * sizeof(Element) > max_bytes_) {
    return false;
  }
  list = {};
  list.resize(size);
  return true;
}

template <typename List>
bool MeshScratch::GrowList(List& list, std::size_t count) {
  if (list.size() + count <= list.capacity()) {
    return true;
  }
  const std::size_t capacity = std::max<std::size_t>({2 * list.capacity(), list.size() + count, 256});
  // While it grows, the list is there twice.
  if (counted_bytes() + capacity * sizeof(list[0]) > max_bytes_) {
    return false;
  }
  list.reserve(capacity);
  return true;
}

bool MeshScratch::Grow(std::size_t count) { return GrowList(intervals_, count) && GrowList(open_, count); }

bool MeshScratch::ReservePolygons(std::size_t count) { return GrowList(flooded_, count); }

void MeshScratch::Push(const OpenInterval& entry) {
  std::size_t hole = open_.size();
  open_.push_back(entry);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kArity;
    if (!entry.Precedes(open_[parent])) {
      break;
    }
    open_[hole] = open_[parent];
    hole = parent;
  }
  open_[hole] = entry;
}

OpenInterval MeshScratch::Pop() {
  const OpenInterval first = open_.front();
  const OpenInterval last = open_.back();
  open_.pop_back();
  if (!open_.empty()) {
    Sink(last);
  }
  return first;
}

OpenInterval MeshScratch::Exchange(const OpenInterval& entry) {
  const OpenInterval first = open_.front();
  Sink(entry);
  return first;
}

void MeshScratch::Sink(const OpenInterval& entry) {
  OpenInterval* const open = open_.data();
  const std::size_t size = open_.size();
  std::size_t hole = 0;
  for (std::size_t child = 1; child < size; child = hole * kArity + 1) {
    const std::size_t end = std::min(child + kArity, size);
    std::size_t best = child;
    for (std::size_t i = child + 1; i < end; ++i) {
      if (open[i].Precedes(open[best])) {
        best = i;
      }
    }
    if (!open[best].Precedes(entry)) {
      break;
    }
    open[hole] = open[best];
    hole = best;
  }
  open[hole] = entry;
}

}  // namespace waystar::core
