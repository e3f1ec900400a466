// The working memory of searches on navigation meshes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/graph/world_point.h"
#include "server/core/mesh/mesh_spec.h"

namespace waystar::core {

// Index of an interval in the list of those that a search has made.
using IntervalNumber = std::uint32_t;

// Part of an edge that is seen from a root, the last place where a path to it turns.
struct MeshInterval {
  // Stands for the vertex on a line of sight: the line comes from the root before this one.
  static constexpr std::uint32_t kStraight = 0xFFFFFFFF;
  // Stands for a vertex: the start of the search. Further starts have the numbers below.
  static constexpr std::uint32_t kStart = 0xFFFFFFFE;
  // Parent of intervals of the polygons that the start is in.
  static constexpr IntervalNumber kNoParent = 0xFFFFFFFF;
  // Stands for the vertex of an edge: the interval is a start, with a goal in the same polygon.
  static constexpr std::uint32_t kNoEdge = 0xFFFFFFFF;

  // Ends of the interval as seen from the root.
  double left_x = 0.0;
  double left_y = 0.0;
  double right_x = 0.0;
  double right_y = 0.0;
  // The length of the path from the start to the root.
  double g = 0.0;
  // Vertices, or starts. `before` is the root before this one, and undefined where the root is a start.
  std::uint32_t root = kStart;
  std::uint32_t before = kStart;
  // The lines of sight through the ends lead from the root to these vertices, which may lie before the
  // interval; or kStraight.
  std::uint32_t left_sight = 0;
  std::uint32_t right_sight = 0;
  IntervalNumber parent = kNoParent;
  // The polygon beyond, and the vertex at the left end of the edge.
  PolygonNumber polygon = kNoPolygon;
  std::uint32_t edge_left = 0;
  // Whether the end is the vertex at the end of the edge, and whether it is where the root is.
  bool is_left_vertex : 1 = false;
  bool is_right_vertex : 1 = false;
  bool is_left_root : 1 = false;
  bool is_right_root : 1 = false;
  // Whether the goal is in the polygon. The root is then the last corner before the goal, and may be an end
  // of the interval, which is seen from the root before.
  bool is_final : 1 = false;
  bool is_turned : 1 = false;
};

// An interval on the open list.
struct OpenInterval {
  // The least length of a path to the goal through the interval.
  double f = 0.0;
  IntervalNumber interval = 0;
  // That of the interval, where the search asks for its memory ahead; else kNoPolygon.
  PolygonNumber polygon = kNoPolygon;

  // Smaller f goes first, then the newer interval. The order is total.
  bool Precedes(const OpenInterval& other) const {
    return f != other.f ? f < other.f : interval > other.interval;
  }
};

// The length of the shortest path known to a vertex.
struct ReachedVertex {
  double g = 0.0;
  // The search that wrote this; an older one means that the vertex is not reached yet.
  std::uint32_t generation = 0;
  // Whether a path that is as long, up to rounding, has turned there to the left, and to the right.
  bool has_left_turn = false;
  bool has_right_turn = false;
};

// What a flood knows of a polygon.
struct FloodedPolygon {
  PolygonNumber polygon = kNoPolygon;
  // The point of it that the flood asks about, and the length of the shortest path to there that is known: it
  // leads through this interval, and turns at this vertex behind it unless that is kNoTurn.
  IntervalNumber interval = 0;
  std::uint32_t turn = kNoTurn;
  double length = std::numeric_limits<double>::infinity();
  WorldPoint point = {};

  static constexpr std::uint32_t kNoTurn = MeshInterval::kStraight;
};

// One search's intervals, open list and path, reused from search to search: nothing is allocated once it has
// grown to the meshes it is used for. It takes 16 bytes a vertex and 4 a room of the largest of them, and 88
// bytes an interval; a flood takes 8 bytes a polygon of the mesh and 48 a polygon that it comes to.
//
// Thread safety: none. Each worker thread has its own.
class MeshScratch {
 public:
  // All of it together stays below `max_bytes`, except for the path. What earlier searches have left is freed
  // before a search is refused more.
  explicit MeshScratch(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  MeshScratch(const MeshScratch&) = delete;
  MeshScratch& operator=(const MeshScratch&) = delete;

  // Says which scratches share one limit, until it is called with null: this is one of them. The list must
  // outlive that.
  void ShareLimit(const std::vector<MeshScratch*>* sharers) { sharers_ = sharers; }
  std::size_t max_bytes() const { return max_bytes_; }

  // Clears the last search and prepares for one over so many vertices and rooms, and for a flood over so many
  // polygons. Returns false if the memory limit stands in the way. It costs O(1) besides what it grows.
  bool Start(std::size_t vertex_count, std::size_t room_count, std::size_t polygon_count = 0);

  // Rooms that a path may lead through.
  void MarkRoom(std::uint32_t room) { rooms_[room] = generation_; }
  bool IsRoomMarked(std::uint32_t room) const { return rooms_[room] == generation_; }

  // Notes that a path of this length leads to the vertex. Returns true if it is not longer than the shortest
  // known, beyond rounding. A length that is less by rounding alone does not count once a path has turned
  // there, so that path is not beaten by it.
  bool Reach(std::uint32_t vertex, double g) {
    ReachedVertex& reached = reached_[vertex];
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
  // Notes that a path turns at the vertex to this side: to the left if it is above 0. Returns false if one
  // that is as long has turned there so. REQUIRES: Reach has returned true for that path.
  bool NoteTurn(std::uint32_t vertex, double side) {
    ReachedVertex& reached = reached_[vertex];
    return !std::exchange(side > 0.0 ? reached.has_left_turn : reached.has_right_turn, true);
  }
  // Returns true if a path of the length `g` is longer, beyond rounding, than the shortest that is known to
  // the vertex and goes on from there for the length `beyond`.
  bool IsBeaten(double g, std::uint32_t vertex, double beyond = 0.0) const {
    const ReachedVertex& reached = reached_[vertex];
    return reached.generation == generation_ && g > (reached.g + beyond) * kRounding;
  }

  const MeshInterval& At(IntervalNumber interval) const { return intervals_[interval]; }
  // Asks for its memory before it is needed.
  void Prefetch(IntervalNumber interval) const {
    const MeshInterval* const at = &intervals_[interval];
    __builtin_prefetch(at);
    // It may begin in one line of the cache and end in the next.
    __builtin_prefetch(&at->edge_left);
  }
  std::size_t interval_count() const { return intervals_.size(); }
  // Makes room for so many more intervals, on the open list as well. Returns false if the memory limit stands
  // in the way.
  bool Reserve(std::size_t count) {
    return (intervals_.size() + count <= intervals_.capacity() && open_.size() + count <= open_.capacity()) ||
           Grow(count);
  }
  // REQUIRES, of these three: Reserve has made room.
  IntervalNumber Add(const MeshInterval& interval) {
    intervals_.push_back(interval);
    return static_cast<IntervalNumber>(intervals_.size() - 1);
  }
  // Adds one that is to be written where it is, which spares a copy.
  MeshInterval& AddBlank() { return intervals_.emplace_back(); }
  void Push(const OpenInterval& entry);
  // Takes the last interval back. REQUIRES: it is not on the open list.
  void TakeBack() { intervals_.pop_back(); }

  bool is_open_empty() const { return open_.empty(); }
  std::size_t open_size() const { return open_.size(); }
  // REQUIRES, of these three: the open list is not empty.
  const OpenInterval& first() const { return open_.front(); }
  OpenInterval Pop();
  // Puts the entry on the open list in the place of the first, and returns that.
  OpenInterval Exchange(const OpenInterval& entry);

  // Makes room for so many more polygons that a flood comes to. Returns false if the memory limit stands in
  // the way.
  bool ReservePolygons(std::size_t count);
  // Returns what is known of the polygon, which is new if none is. REQUIRES: ReservePolygons has made room.
  FloodedPolygon& Flood(PolygonNumber polygon) {
    PolygonSlot& slot = slots_[polygon];
    if (slot.generation != generation_) {
      slot = {static_cast<std::uint32_t>(flooded_.size()), generation_};
      flooded_.push_back({.polygon = polygon});
    }
    return flooded_[slot.index];
  }
  // Returns the polygons that the flood has come to.
  absl::Span<const FloodedPolygon> flooded() const { return flooded_; }

  // Return parts of the path that is being built, and the polygons that the ends are in.
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
  // Lengths of thousands of legs are added with less rounding than this. Two ways of equal length may differ
  // so much, and the first may not put an end to the second, which can turn to the other side.
  static constexpr double kRounding = 1.0 + 1.0 / (std::uint64_t{1} << 40);
  static constexpr std::size_t kArity = 4;

  // Where a polygon is in the list of flooded ones, and the flood that wrote this.
  struct PolygonSlot {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
  };

  // Puts the entry in the place of the first and moves it down.
  void Sink(const OpenInterval& entry);

  // Makes a list of new elements of this size unless the list is as long. Returns false if the memory limit
  // stands in the way.
  template <typename Element>
  bool Replace(std::vector<Element>& list, std::size_t size);
  bool Grow(std::size_t count);
  template <typename List>
  bool GrowList(List& list, std::size_t count);
  template <typename List>
  void Clear(List& list) const;

  // Returns whether so much more stays below the limit, if need be once what is not in use is freed.
  bool HasRoom(std::size_t bytes);
  void FreeUnused();
  template <typename Visitor>
  void ForEachSharer(Visitor visit);

  // Returns the bytes that count towards the limit.
  std::size_t counted_bytes() const {
    return reached_.capacity() * sizeof(ReachedVertex) + rooms_.capacity() * sizeof(std::uint32_t) +
           intervals_.capacity() * sizeof(MeshInterval) + open_.capacity() * sizeof(OpenInterval) +
           slots_.capacity() * sizeof(PolygonSlot) + flooded_.capacity() * sizeof(FloodedPolygon);
  }

  const std::size_t max_bytes_;
  const std::vector<MeshScratch*>* sharers_ = nullptr;
  // What the search uses.
  std::size_t vertex_count_ = 0;
  std::size_t room_count_ = 0;
  std::size_t polygon_count_ = 0;
  std::uint32_t generation_ = 0;
  std::vector<ReachedVertex> reached_;
  // The search that marked the room.
  std::vector<std::uint32_t> rooms_;
  std::vector<MeshInterval> intervals_;
  // A heap.
  std::vector<OpenInterval> open_;
  std::vector<PolygonSlot> slots_;
  std::vector<FloodedPolygon> flooded_;
  std::vector<WorldPoint> corners_;
  std::vector<PolygonNumber> corridor_;
  std::vector<PolygonNumber> start_polygons_;
  std::vector<PolygonNumber> goal_polygons_;
};

}  // namespace waystar::core
