#include "server/core/mesh/search/mesh_scratch.h"

#include "server/core/search/open_list.h"

namespace waystar::core {

static_assert(sizeof(MeshInterval) == 72);

bool MeshScratch::Start(std::size_t vertex_count, std::size_t room_count, std::size_t polygon_count) {
  Clear(intervals_);
  Clear(open_);
  Clear(flooded_);
  reached_of_cuts_.clear();
  slots_of_cuts_.clear();
  corners_.clear();
  corridor_.clear();
  start_polygons_.clear();
  goal_polygons_.clear();
  vertex_count_ = vertex_count;
  room_count_ = room_count;
  polygon_count_ = polygon_count;
  if (!Replace(reached_, vertex_count) || !Replace(rooms_, room_count) || !Replace(slots_, polygon_count)) {
    return false;
  }
  ++generation_;
  if (generation_ == 0) {
    // The counter wrapped: entries of an old generation must not match a new one.
    reached_.assign(reached_.size(), ReachedVertex{});
    rooms_.assign(rooms_.size(), 0);
    slots_.assign(slots_.size(), PolygonSlot{});
    generation_ = 1;
  }
  return true;
}

template <typename List>
void MeshScratch::Clear(List& list) const {
  if (IsMuchToKeep(list.capacity() * sizeof(list[0]), max_bytes_)) {
    list = List();
  }
  list.clear();
}

void MeshScratch::FreeUnused() {
  CutTo(reached_, vertex_count_);
  CutTo(rooms_, room_count_);
  CutTo(slots_, polygon_count_);
  if (polygon_count_ == 0) {
    CutTo(flooded_, 0);
  }
}

bool MeshScratch::HasRoom(std::size_t bytes) {
  const auto fits = [&] {
    std::size_t counted = bytes;
    ForEachSharer([&](const MeshScratch& sharer) { counted += sharer.counted_bytes(); });
    return counted <= max_bytes_;
  };
  if (fits()) {
    return true;
  }
  ForEachSharer([](MeshScratch& sharer) { sharer.FreeUnused(); });
  return fits();
}

template <typename Visitor>
void MeshScratch::ForEachSharer(Visitor visit) {
  if (sharers_ == nullptr) {
    visit(*this);
    return;
  }
  for (MeshScratch* const sharer : *sharers_) {
    visit(*sharer);
  }
}

template <typename Element>
bool MeshScratch::Replace(std::vector<Element>& list, std::size_t size) {
  if (list.size() >= size) {
    return true;
  }
  CutTo(list, 0);
  if (!HasRoom(size * sizeof(Element))) {
    return false;
  }
  list.resize(size);
  return true;
}

template <typename List>
bool MeshScratch::GrowList(List& list, std::size_t count) {
  if (list.size() + count <= list.capacity()) {
    return true;
  }
  const std::size_t capacity = std::max<std::size_t>({2 * list.capacity(), list.size() + count, 256});
  // While it grows, the list needs both its old and new memory.
  if (!HasRoom(capacity * sizeof(list[0]))) {
    return false;
  }
  list.reserve(capacity);
  return true;
}

bool MeshScratch::Grow(std::size_t count) { return GrowList(intervals_, count) && GrowList(open_, count); }

bool MeshScratch::ReservePolygons(std::size_t count) { return GrowList(flooded_, count); }

void MeshScratch::Push(const OpenInterval& entry) { PushEntry(open_, entry); }

OpenInterval MeshScratch::Pop() { return PopEntry(open_); }

OpenInterval MeshScratch::Exchange(const OpenInterval& entry) {
  const OpenInterval first = open_.front();
  Sink(open_, entry);
  return first;
}

}  // namespace waystar::core
