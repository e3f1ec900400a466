#include "server/core/graph_search/graph_scratch.h"

namespace waystar::core {

bool GraphScratch::Start(std::size_t limit) {
  open_.Clear();
  path_.clear();
  if (nodes_.size() < limit) {
    if (limit * sizeof(ReachedNode) + open_.memory_bytes() > max_bytes_) {
      return false;
    }
    nodes_ = {};
    nodes_.resize(limit);
    generation_ = 0;
  }
  ++generation_;
  if (generation_ == 0) {
    // The counter has wrapped: whatever carries an old generation must not be taken for a new one.
    nodes_.assign(nodes_.size(), ReachedNode{});
    generation_ = 1;
  }
  return true;
}

bool GraphScratch::GrowOpen() {
  // While it grows, the list is there twice.
  if (memory_bytes() + 2 * open_.memory_bytes() > max_bytes_) {
    return false;
  }
  open_.Grow();
  return true;
}

}  // namespace waystar::core
