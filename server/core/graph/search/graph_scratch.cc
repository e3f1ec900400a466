#include "server/core/graph/search/graph_scratch.h"

#include "server/core/search/open_list.h"

namespace waystar::core {

bool GraphScratch::Start(std::size_t limit) {
  if (IsMuchToKeep(open_.memory_bytes(), max_bytes_)) {
    open_ = OpenList();
  }
  open_.Clear();
  path_.clear();
  limit_ = limit;
  if (nodes_.size() < limit) {
    CutTo(nodes_, 0);
    if (!HasRoom(limit * sizeof(ReachedNode))) {
      return false;
    }
    nodes_.resize(limit);
    generation_ = 0;
  }
  ++generation_;
  if (generation_ == 0) {
    // The counter wrapped: nodes of an old generation must not match a new one.
    nodes_.assign(nodes_.size(), ReachedNode{});
    generation_ = 1;
  }
  return true;
}

bool GraphScratch::HasRoom(std::size_t bytes) {
  const auto fits = [&] {
    return nodes_.capacity() * sizeof(ReachedNode) + open_.memory_bytes() + bytes <= max_bytes_;
  };
  if (!fits()) {
    CutTo(nodes_, limit_);
  }
  return fits();
}

bool GraphScratch::GrowOpen() {
  // While it grows, the list needs both its old and new memory.
  if (!HasRoom(open_.grown_bytes())) {
    return false;
  }
  open_.Grow();
  return true;
}

}  // namespace waystar::core
