// Distances from landmarks to the vertices of a navigation mesh.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

namespace waystar::core {

// For each vertex of the uncut mesh, the length of a shortest path from each landmark, seen from above. A
// landmark is a vertex in each large part of the mesh.
//
// By the triangle inequality the difference of two vertices is a lower bound of the distance between them,
// also where holes lengthen the paths.
struct LandmarkTable {
  static constexpr std::size_t kCount = 16;
  // Stands for all distances of a vertex if any is unknown.
  static constexpr std::int16_t kUnknown = 0x7FFF;

  using Distances = std::array<std::int16_t, kCount>;

  // Whole units, rounded down, from 0 to kUnknown.
  std::vector<Distances> distances;
  double unit = 1.0;

  std::size_t memory_bytes() const { return distances.capacity() * sizeof(Distances); }
};

// Landmarks of a mesh, which are built once its searches have paid for them.
//
// Thread safety: any method may be called from any thread.
class LandmarkSlot {
 public:
  // Searches have paid once they have expanded `price` intervals; 0 if landmarks would not pay.
  explicit LandmarkSlot(std::uint64_t price) : price_(price) {}
  LandmarkSlot(const LandmarkSlot&) = delete;
  LandmarkSlot& operator=(const LandmarkSlot&) = delete;
  ~LandmarkSlot() { delete table_.load(std::memory_order_relaxed); }

  // Returns the landmarks, or null as long as there are none.
  const LandmarkTable* table() const { return table_.load(std::memory_order_acquire); }

  // Returns false if landmarks would not pay.
  bool is_wanted() const { return price_ > 0; }
  // Counts the expansions of a search.
  void Pay(std::uint64_t expansions) { paid_.fetch_add(expansions, std::memory_order_relaxed); }
  // Returns true if landmarks should be built: searches have paid, and nobody has begun.
  bool is_due() const {
    return is_wanted() && paid_.load(std::memory_order_relaxed) >= price_ &&
           !is_begun_.load(std::memory_order_relaxed);
  }
  // Returns true to one caller, who builds the landmarks.
  bool Begin() { return !is_begun_.exchange(true, std::memory_order_relaxed); }
  // Sets the landmarks. Does nothing if there are some.
  void Put(std::unique_ptr<const LandmarkTable> table) {
    const LandmarkTable* none = nullptr;
    if (table_.compare_exchange_strong(none, table.get(), std::memory_order_release)) {
      std::ignore = table.release();
    }
  }

  // A thread in the background looks for meshes whose landmarks are due. Otherwise the search that pays the
  // last part builds them.
  void LeaveToBackground() { is_left_.store(true, std::memory_order_relaxed); }
  bool is_left_to_background() const { return is_left_.load(std::memory_order_relaxed); }

 private:
  const std::uint64_t price_;
  std::atomic<std::uint64_t> paid_ = 0;
  std::atomic<bool> is_begun_ = false;
  std::atomic<bool> is_left_ = false;
  // Owned.
  std::atomic<const LandmarkTable*> table_ = nullptr;
};

}  // namespace waystar::core
