// Copy-on-write sorted sequence.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"

namespace waystar::core {

// Unique values ordered by `Less`, in shared chunks of at most kMaxChunk. A copy takes one pointer per chunk;
// a change clones one chunk.
//
// Thread safety: const methods may run concurrently with each other and with changes to another copy.
template <typename T, typename Less>
class SortedChunks {
 public:
  std::size_t size() const { return size_; }

  // Inserts a value, or replaces an equal one.
  void Put(const T& value) {
    if (chunks_.empty()) {
      chunks_.push_back(std::make_shared<Chunk>(Chunk{value}));
      size_ = 1;
      return;
    }
    const std::size_t index = std::min(FirstChunk(value), chunks_.size() - 1);
    auto chunk = std::make_shared<Chunk>(*chunks_[index]);
    const auto place = std::lower_bound(chunk->begin(), chunk->end(), value, Less());
    if (place != chunk->end() && !Less()(value, *place)) {
      *place = value;
    } else {
      chunk->insert(place, value);
      ++size_;
    }
    if (chunk->size() > kMaxChunk) {
      const auto middle = chunk->begin() + static_cast<std::ptrdiff_t>(kMaxChunk / 2);
      chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(index),
                     std::make_shared<Chunk>(chunk->begin(), middle));
      chunk->erase(chunk->begin(), middle);
      chunks_[index + 1] = std::move(chunk);
    } else {
      chunks_[index] = std::move(chunk);
    }
  }

  // REQUIRES: the value exists.
  void Remove(const T& value) {
    const std::size_t index = FirstChunk(value);
    auto chunk = std::make_shared<Chunk>(*chunks_[index]);
    chunk->erase(std::lower_bound(chunk->begin(), chunk->end(), value, Less()));
    --size_;
    if (chunk->empty()) {
      chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(index));
    } else {
      chunks_[index] = std::move(chunk);
    }
  }

  // Calls visit(value) in order, from the first value not less than `from`, until it returns false.
  template <typename Key, typename Visitor>
  void VisitFrom(const Key& from, Visitor visit) const {
    for (std::size_t i = FirstChunk(from); i < chunks_.size(); ++i) {
      const Chunk& chunk = *chunks_[i];
      for (auto it = std::lower_bound(chunk.begin(), chunk.end(), from, Less()); it != chunk.end(); ++it) {
        if (!visit(*it)) {
          return;
        }
      }
    }
  }

  std::size_t memory_bytes() const {
    std::size_t bytes = chunks_.capacity() * sizeof(chunks_[0]);
    for (const std::shared_ptr<const Chunk>& chunk : chunks_) {
      bytes += sizeof(Chunk) + chunk->capacity() * sizeof(T);
    }
    return bytes;
  }

  // Returns the bytes of the chunk pointers and of the chunks that `other` does not hold. Visits the values
  // of those chunks.
  template <typename Visitor>
  std::size_t BytesBeyond(const SortedChunks& other, Visitor visit) const {
    const absl::flat_hash_set<std::shared_ptr<const Chunk>> held(other.chunks_.begin(), other.chunks_.end());
    std::size_t bytes = chunks_.capacity() * sizeof(chunks_[0]);
    for (const std::shared_ptr<const Chunk>& chunk : chunks_) {
      if (!held.contains(chunk)) {
        bytes += sizeof(Chunk) + chunk->capacity() * sizeof(T);
        std::for_each(chunk->begin(), chunk->end(), visit);
      }
    }
    return bytes;
  }

 private:
  using Chunk = std::vector<T>;
  static constexpr std::size_t kMaxChunk = 128;

  // Returns the index of the first chunk whose last value is not less than the key.
  template <typename Key>
  std::size_t FirstChunk(const Key& key) const {
    const auto is_before = [](const std::shared_ptr<const Chunk>& chunk, const Key& wanted) {
      return Less()(chunk->back(), wanted);
    };
    return static_cast<std::size_t>(std::lower_bound(chunks_.begin(), chunks_.end(), key, is_before) -
                                    chunks_.begin());
  }

  // No chunk is empty.
  std::vector<std::shared_ptr<const Chunk>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace waystar::core
