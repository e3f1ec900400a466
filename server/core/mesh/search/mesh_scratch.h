// Working memory of searches on navigation meshes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Index of an interval in the search's list.
using IntervalNumber = std::uint32_t;

// Part of an edge that is visible from a root, the last turning point of a path to it.
struct MeshInterval {
  // Sight vertex of a line of sight that comes from the root before this one.
  static constexpr std::uint32_t kStraight = 0xFFFFFFFF;
  // Number of the search's start in place of a vertex. Further starts have the numbers below.
  static constexpr std::uint32_t kStart = 0xFFFFFFFE;
  // Parent of intervals of the polygons that contain the start.
  static constexpr IntervalNumber kNoParent = 0xFFFFFFFF;
  // Value of `edge_left` for the interval of a start with a goal in the same polygon.
  static constexpr std::uint32_t kNoEdge = 0xFFFFFFFF;

  // Ends of the interval as seen from the root.
  double left_x = 0.0;
  double left_y = 0.0;
  double right_x = 0.0;
  double right_y = 0.0;
  // Length of the path from the start to the root.
  double g = 0.0;
  // Vertices, or starts. `before` is the root before this one; undefined if the root is a start.
  std::uint32_t root = kStart;
  std::uint32_t before = kStart;
  // The lines of sight through the ends lead from the root to these vertices, which may lie before the
  // interval; or kStraight.
  std::uint32_t left_sight = 0;
  std::uint32_t right_sight = 0;
  IntervalNumber parent = kNoParent;
  // Polygon behind the interval, and the vertex at the left end of its edge.
  PolygonNumber polygon = kNoPolygon;
  std::uint32_t edge_left = 0;
  // True if the end is a vertex, at the end of the edge; true if it is at the position of the root.
  bool is_left_vertex : 1 = false;
  bool is_right_vertex : 1 = false;
  bool is_left_root : 1 = false;
  bool is_right_root : 1 = false;
  // True if the goal is in the polygon. The root is then the last corner before the goal, and may be an end
  // of the interval, which is seen from the previous root.
  bool is_final : 1 = false;
  bool is_turned : 1 = false;
};

struct OpenInterval {
  // Lower bound of the length of a path to the goal through the interval.
  double f = 0.0;
  IntervalNumber interval = 0;
  // Polygon of the interval if the search prefetches it; else kNoPolygon.
  PolygonNumber polygon = kNoPolygon;

  // Smaller f first, then the newer interval. The order is total.
  bool Precedes(const OpenInterval& other) const {
    return f != other.f ? f < other.f : interval > other.interval;
  }
};

// Length of the shortest known path to a vertex.
struct ReachedVertex {
  double g = 0.0;
  // Search that wrote this; an older generation means that the vertex is not reached yet.
  std::uint32_t generation = 0;
  // True if a path of this length, up to rounding, has turned there to the left or to the right.
  bool has_left_turn = false;
  bool has_right_turn = false;
};

// Flood state of a polygon.
struct FloodedPolygon {
  PolygonNumber polygon = kNoPolygon;
  // The target point of the polygon, and the length of the shortest known path to it. The path leads through
  // this interval, and turns at this vertex behind it unless that is kNoTurn.
  IntervalNumber interval = 0;
  std::uint32_t turn = kNoTurn;
  double length = std::numeric_limits<double>::infinity();
  WorldPoint point = {};

  static constexpr std::uint32_t kNoTurn = MeshInterval::kStraight;
};

// Intervals, open list and path of one search, reused between searches. Allocates nothing once it has grown
// to the largest mesh searched. Takes 16 bytes per vertex and 4 per room of that mesh, and 88 bytes per
// interval. A flood takes 8 bytes per polygon of the mesh and 48 per polygon reached. Vertices and polygons
// that cuts have added take twice as much where a search reaches them.
//
// Not thread-safe; each worker thread has its own.
class MeshScratch {
 public:
  // All memory except the path stays below `max_bytes`. Memory left by earlier searches is freed before a
  // search is refused more.
  explicit MeshScratch(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  MeshScratch(const MeshScratch&) = delete;
  MeshScratch& operator=(const MeshScratch&) = delete;

  // Sets the scratches that share one limit, including this one; null ends the sharing. The list must outlive
  // it.
  void ShareLimit(const std::vector<MeshScratch*>* sharers) { sharers_ = sharers; }
  std::size_t max_bytes() const { return max_bytes_; }

  // Clears the scratch and prepares for a search over this many vertices and rooms, and for a flood over this
  // many polygons. Returns false if the memory limit does not allow it. Costs O(1) plus growth.
  bool Start(std::size_t vertex_count, std::size_t room_count, std::size_t polygon_count = 0);

  // Mark the rooms that a path may pass.
  void MarkRoom(std::uint32_t room) { rooms_[room] = generation_; }
  bool IsRoomMarked(std::uint32_t room) const { return rooms_[room] == generation_; }

  // Records a path of this length to the vertex. Returns true if it is not longer than the shortest known, up
  // to rounding. Once a path has turned there, a length that is shorter only by rounding is not recorded, so
  // that it does not beat that path.
  // Here and below, kMayBeCut is false if the vertex is one of a mesh that is not cut.
  template <bool kMayBeCut>
  bool Reach(std::uint32_t vertex, double g) {
    ReachedVertex& reached = ReachedAt<kMayBeCut>(vertex);
    if (reached.generation == generation_ && g >= reached.g) {
      return g <= reached.g * kRounding;
    }
    const bool is_as_long = reached.generation == generation_ && reached.g <= g * kRounding;
    if (is_as_long && (reached.has_left_turn || reached.has_right_turn)) {
      return true;
    }
    reached = {.g = g, .generation = generation_};
    return true;
  }
  // Records that a path turns at the vertex to this side: left if positive. Returns false if a path of the
  // same length has turned to that side.
  // REQUIRES: Reach has returned true for the path.
  template <bool kMayBeCut>
  bool NoteTurn(std::uint32_t vertex, double side) {
    ReachedVertex& reached = ReachedAt<kMayBeCut>(vertex);
    return !std::exchange(side > 0.0 ? reached.has_left_turn : reached.has_right_turn, true);
  }
  // Returns true if a path of length `g` is longer, beyond rounding, than the shortest known path to the
  // vertex plus the length `beyond`.
  template <bool kMayBeCut>
  bool IsBeaten(double g, std::uint32_t vertex, double beyond = 0.0) const {
    if (kMayBeCut && vertex >= reached_.size()) {
      const auto reached = reached_of_cuts_.find(vertex);
      return reached != reached_of_cuts_.end() && g > (reached->second.g + beyond) * kRounding;
    }
    const ReachedVertex& reached = reached_[vertex];
    return reached.generation == generation_ && g > (reached.g + beyond) * kRounding;
  }

  // Returns the length of the shortest known path to a vertex of a mesh that is not cut, or infinity.
  double DistanceTo(std::uint32_t vertex) const {
    const ReachedVertex& reached = reached_[vertex];
    return reached.generation == generation_ ? reached.g : std::numeric_limits<double>::infinity();
  }

  const MeshInterval& At(IntervalNumber interval) const { return intervals_[interval]; }
  void Prefetch(IntervalNumber interval) const {
    const MeshInterval* const at = &intervals_[interval];
    __builtin_prefetch(at);
    // It may span two cache lines.
    __builtin_prefetch(&at->edge_left);
  }
  std::size_t interval_count() const { return intervals_.size(); }
  // Reserves memory for `count` more intervals, also on the open list. Returns false if the memory limit is
  // reached.
  bool Reserve(std::size_t count) {
    return (intervals_.size() + count <= intervals_.capacity() && open_.size() + count <= open_.capacity()) ||
           Grow(count);
  }
  // REQUIRES, for these three: Reserve has returned true.
  IntervalNumber Add(const MeshInterval& interval) {
    intervals_.push_back(interval);
    return static_cast<IntervalNumber>(intervals_.size() - 1);
  }
  // Adds an interval to be written in place, without a copy.
  MeshInterval& AddBlank() { return intervals_.emplace_back(); }
  void Push(const OpenInterval& entry);
  // Removes the last interval.
  // REQUIRES: it is not on the open list.
  void TakeBack() { intervals_.pop_back(); }

  bool is_open_empty() const { return open_.empty(); }
  std::size_t open_size() const { return open_.size(); }
  // REQUIRES, for these three: the open list is not empty.
  const OpenInterval& first() const { return open_.front(); }
  OpenInterval Pop();
  // Replaces the first entry of the open list by this one, and returns the former.
  OpenInterval Exchange(const OpenInterval& entry);

  // Reserves memory for `count` more polygons reached by a flood. Returns false if the memory limit is
  // reached.
  bool ReservePolygons(std::size_t count);
  // Returns the state of the polygon, which is created if there is none.
  // REQUIRES: ReservePolygons has returned true.
  FloodedPolygon& Flood(PolygonNumber polygon) {
    PolygonSlot& slot = polygon < slots_.size() ? slots_[polygon] : slots_of_cuts_[polygon];
    if (slot.generation != generation_) {
      slot = {static_cast<std::uint32_t>(flooded_.size()), generation_};
      flooded_.push_back({.polygon = polygon});
    }
    return flooded_[slot.index];
  }
  // Returns the polygons that the flood has reached.
  absl::Span<const FloodedPolygon> flooded() const { return flooded_; }

  // Return parts of the path being built, and the polygons that contain its ends.
  std::vector<WorldPoint>& corners() { return corners_; }
  std::vector<PolygonNumber>& corridor() { return corridor_; }
  std::vector<PolygonNumber>& start_polygons() { return start_polygons_; }
  std::vector<PolygonNumber>& goal_polygons() { return goal_polygons_; }

  std::size_t memory_bytes() const {
    return counted_bytes() + corners_.capacity() * sizeof(WorldPoint) +
           (corridor_.capacity() + start_polygons_.capacity() + goal_polygons_.capacity()) *
               sizeof(PolygonNumber);
  }

 private:
  // Exceeds the relative rounding error of sums of thousands of legs. Two paths of equal length may differ by
  // this much, and the first must not prune the second, which may turn to the other side.
  static constexpr double kRounding = 1.0 + 1.0 / (std::uint64_t{1} << 40);

  // Index of a polygon in the list of flooded ones, and the flood that wrote this.
  struct PolygonSlot {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
  };

  // Replaces a list by one of new elements with this size, unless it is at least that long. Returns false if
  // the memory limit is reached.
  template <typename Element>
  bool Replace(std::vector<Element>& list, std::size_t size);
  bool Grow(std::size_t count);
  template <typename List>
  bool GrowList(List& list, std::size_t count);
  template <typename List>
  void Clear(List& list) const;

  // Returns true if `bytes` more fit below the limit, after freeing unused memory if necessary.
  bool HasRoom(std::size_t bytes);
  void FreeUnused();
  template <typename Visitor>
  void ForEachSharer(Visitor visit);

  // Returns the bytes that count towards the limit.
  std::size_t counted_bytes() const {
    return reached_.capacity() * sizeof(ReachedVertex) + rooms_.capacity() * sizeof(std::uint32_t) +
           intervals_.capacity() * sizeof(MeshInterval) + open_.capacity() * sizeof(OpenInterval) +
           reached_of_cuts_.capacity() * sizeof(std::pair<std::uint32_t, ReachedVertex>) +
           slots_of_cuts_.capacity() * sizeof(std::pair<PolygonNumber, PolygonSlot>) +
           slots_.capacity() * sizeof(PolygonSlot) + flooded_.capacity() * sizeof(FloodedPolygon);
  }

  template <bool kMayBeCut>
  ReachedVertex& ReachedAt(std::uint32_t vertex) {
    return !kMayBeCut || vertex < reached_.size() ? reached_[vertex] : reached_of_cuts_[vertex];
  }

  const std::size_t max_bytes_;
  const std::vector<MeshScratch*>* sharers_ = nullptr;
  // Sizes of the current search.
  std::size_t vertex_count_ = 0;
  std::size_t room_count_ = 0;
  std::size_t polygon_count_ = 0;
  std::uint32_t generation_ = 0;
  std::vector<ReachedVertex> reached_;
  // The same for the vertices and polygons of cut meshes with higher numbers.
  absl::flat_hash_map<std::uint32_t, ReachedVertex> reached_of_cuts_;
  absl::flat_hash_map<PolygonNumber, PolygonSlot> slots_of_cuts_;
  // The search that marked each room.
  std::vector<std::uint32_t> rooms_;
  std::vector<MeshInterval> intervals_;
  // Heap.
  std::vector<OpenInterval> open_;
  std::vector<PolygonSlot> slots_;
  std::vector<FloodedPolygon> flooded_;
  std::vector<WorldPoint> corners_;
  std::vector<PolygonNumber> corridor_;
  std::vector<PolygonNumber> start_polygons_;
  std::vector<PolygonNumber> goal_polygons_;
};

}  // namespace waystar::core
