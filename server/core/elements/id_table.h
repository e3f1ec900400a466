// Copy-on-write table of values, ordered by id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/string_view.h"
#include "server/core/elements/sorted_chunks.h"

namespace waystar::core {

// Table of values with a member `id`, ordered by id; copies share their chunks until they change. T needs the
// functions BytesOf(value), its memory, and DigestOf(value), its part of a map's digest.
//
// Thread safety: const methods may run concurrently with each other and with changes to another copy.
template <typename T>
class IdTable {
 public:
  bool empty() const { return size() == 0; }
  std::size_t size() const { return by_id_.size(); }
  // Returns the sum of the values' digests.
  std::uint64_t digest() const { return digest_; }

  // Returns null if there is no such value.
  std::shared_ptr<const T> Find(absl::string_view id) const {
    std::shared_ptr<const T> found;
    by_id_.VisitFrom(id, [&](const std::shared_ptr<const T>& value) {
      if (absl::string_view(value->id) == id) {
        found = value;
      }
      return false;
    });
    return found;
  }

  // Calls visit(value) in id order for ids greater than `id`, until it returns false.
  template <typename Visitor>
  void VisitAfter(absl::string_view id, Visitor visit) const {
    by_id_.VisitFrom(id, [&](const std::shared_ptr<const T>& value) {
      return value->id == std::string_view(id.data(), id.size()) || visit(*value);
    });
  }

  // Calls visit(value) for each value that only one of the two tables has; both versions of a changed value
  // are visited. Compares chunk pointers first and looks only into chunks that differ.
  template <typename Visitor>
  void VisitDifferences(const IdTable& other, Visitor visit) const {
    const auto visit_own = [&](const IdTable& own, const IdTable& others) {
      own.by_id_.BytesBeyond(others.by_id_, [&](const std::shared_ptr<const T>& value) {
        if (others.Find(value->id) != value) {
          visit(*value);
        }
      });
    };
    if (this != &other) {
      visit_own(*this, other);
      visit_own(other, *this);
    }
  }

  // Inserts or replaces a value. Returns the replaced value, or null.
  std::shared_ptr<const T> Put(const std::shared_ptr<const T>& value) {
    std::shared_ptr<const T> before = Find(value->id);
    value_bytes_ += BytesOf(*value) - (before == nullptr ? 0 : BytesOf(*before));
    digest_ += DigestOf(*value) - (before == nullptr ? 0 : DigestOf(*before));
    by_id_.Put(value);
    return before;
  }
  // Removes a value and returns it.
  // REQUIRES: it exists.
  std::shared_ptr<const T> Remove(absl::string_view id) {
    std::shared_ptr<const T> before = Find(id);
    value_bytes_ -= BytesOf(*before);
    digest_ -= DigestOf(*before);
    by_id_.Remove(before);
    return before;
  }

  std::size_t memory_bytes() const { return sizeof(*this) + by_id_.memory_bytes() + value_bytes_; }
  // Returns the bytes held by this and not by `other`.
  std::size_t BytesBeyond(const IdTable& other) const {
    if (this == &other) {
      return 0;
    }
    std::size_t of_values = 0;
    const std::size_t bytes = by_id_.BytesBeyond(other.by_id_, [&](const std::shared_ptr<const T>& value) {
      of_values += other.Find(value->id) == value ? 0 : BytesOf(*value);
    });
    return sizeof(*this) + bytes + of_values;
  }

 private:
  struct IdLess {
    bool operator()(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) const {
      return a->id < b->id;
    }
    bool operator()(const std::shared_ptr<const T>& a, absl::string_view b) const {
      return absl::string_view(a->id) < b;
    }
  };

  SortedChunks<std::shared_ptr<const T>, IdLess> by_id_;
  std::size_t value_bytes_ = 0;
  std::uint64_t digest_ = 0;
};

}  // namespace waystar::core
