// Immutable square blocks of cells that make up Components.
//
// The blocks form a quadtree. A block maps each component of its children to one of its own. Only the borders
// of the children take part in that, so that a change which leaves a border unchanged does not propagate
// upwards. A component enclosed by a block is not mapped to the parent.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Disjoint sets of labels, each represented by its lowest. Path halving without ranks: Tarjan and van
// Leeuwen, "Worst-case Analysis of Set Union Algorithms" (1984). Not thread-safe.
class LabelForest {
 public:
  using Label = std::uint16_t;

  // Makes labels 0, ..., count - 1, each in its own set.
  // REQUIRES: there are never more than 65535 labels.
  explicit LabelForest(std::size_t count = 0) : above_(count) {
    std::iota(above_.begin(), above_.end(), Label{0});
  }

  std::size_t size() const { return above_.size(); }

  void Reserve(std::size_t count) { above_.reserve(count); }

  // Returns a new label in its own set.
  Label Add() {
    above_.push_back(static_cast<Label>(above_.size()));
    return above_.back();
  }

  Label Find(Label label) {
    while (above_[label] != label) {
      above_[label] = above_[above_[label]];
      label = above_[label];
    }
    return label;
  }

  void Unite(Label a, Label b) {
    a = Find(a);
    b = Find(b);
    above_[std::max(a, b)] = std::min(a, b);
  }

  // Prepares Lowest, which returns the same as Find until the next change.
  void Flatten() {
    for (Label& above : above_) {
      above = above_[above];
    }
  }
  Label Lowest(Label label) const { return above_[label]; }

 private:
  // Parent of each label, which is at most the label itself.
  std::vector<Label> above_;
};

// Number of a component within one block. Components with a cell on the block's sides come first, numbered
// from 0 in the order in which they are first met along the north, south, west and east side, each from its
// lower coordinate up. Enclosed components follow. 16 bits suffice: the sides of the four children of the
// largest block have less than 4 * 4 * kMaxMapSide / 2 / 2 components.
using ComponentNumber = LabelForest::Label;

// Maximal run of set cells begin, ..., end - 1 of a side, counted from its lower end.
struct BorderRun {
  std::uint16_t begin = 0;
  std::uint16_t end = 0;
  ComponentNumber component = 0;

  friend bool operator==(const BorderRun&, const BorderRun&) = default;
};

enum BorderSide : std::uint8_t { kNorthSide, kSouthSide, kWestSide, kEastSide };
inline constexpr std::size_t kBorderSideCount = 4;

// Everything about a block that connections beyond it depend on. Blocks with equal borders are
// interchangeable.
struct ComponentBorder {
  // Runs of all sides, one side after the other; those of side i end before ends[i].
  std::vector<BorderRun> runs;
  std::array<std::uint32_t, kBorderSideCount> ends{};
  // Number of components in the runs.
  ComponentNumber components = 0;

  absl::Span<const BorderRun> side(BorderSide side) const {
    const std::size_t begin = side == kNorthSide ? 0 : ends[side - 1U];
    return absl::MakeConstSpan(runs).subspan(begin, ends[side] - begin);
  }

  std::size_t memory_bytes() const { return sizeof(*this) + runs.capacity() * sizeof(BorderRun); }

  friend bool operator==(const ComponentBorder&, const ComponentBorder&) = default;
};

static_assert(4 * 4 * kMaxMapSide / 2 / 2 < std::numeric_limits<ComponentNumber>::max());

// A cell of a side that was set or cleared, and the component that gained or lost it.
struct BorderFlip {
  BorderSide side = kNorthSide;
  std::uint16_t place = 0;
  ComponentNumber component = 0;
};

// Returns the border after the flips, applied in order, or nullopt if components must be renumbered.
// REQUIRES: no flip joins or splits components.
std::optional<ComponentBorder> Flipped(const ComponentBorder& border, absl::Span<const BorderFlip> flips);

// Numbers the components of a forest of labels and builds the border. Call AddRun for the runs of a side in
// order, EndSide after each side, then Finish, then NumberOf for the other labels.
class BorderDrawer {
 public:
  // Keeps a reference to `labels`, which it flattens and which must not change until the drawer is done.
  explicit BorderDrawer(LabelForest& labels);

  // Adds a run; merges it with the previous one if they touch.
  // REQUIRES: runs that touch are of one component.
  void AddRun(int begin, int end, LabelForest::Label label);
  void EndSide() { border_.ends[side_++] = static_cast<std::uint32_t>(runs_.size()); }
  ComponentBorder Finish();

  // Returns the number of a label's component; assigns the next number if it has none.
  ComponentNumber NumberOf(LabelForest::Label label);

  // Returns the number of components numbered so far.
  ComponentNumber count() const { return next_; }

 private:
  static constexpr ComponentNumber kNoNumber = 0xFFFF;
  static constexpr std::size_t kUsualRuns = 128;

  const LabelForest& labels_;
  // Component numbers, indexed by lowest label; kNoNumber if not assigned.
  std::vector<ComponentNumber> numbers_;
  ComponentNumber next_ = 0;
  std::size_t side_ = 0;
  // Runs of the border, kept here so that the border allocates exactly the memory it needs.
  absl::InlinedVector<BorderRun, kUsualRuns> runs_;
  ComponentBorder border_;
};

// Neighbourhood relation of cells.
enum class Adjacency : std::uint8_t {
  // The four cells that share a side.
  kStraight,
  // The four cells that share a side, and the four diagonal cells.
  kAny,
  // The six neighbours of a hexagon: the four that share a side, and those above right and below left.
  kHexagonal,
};
inline constexpr std::size_t kAdjacencyCount = 3;

// Range of the neighbours of cell x in the row above: from x - left to x + right. In the row below, left and
// right are exchanged. Columns to the right and left correspond to rows above and below.
struct NeighbourReach {
  explicit constexpr NeighbourReach(Adjacency adjacency)
      : left(adjacency == Adjacency::kAny ? 1 : 0), right(adjacency == Adjacency::kStraight ? 0 : 1) {}

  int left;
  int right;
};

// A block of level l has sides of kLeafSide << l cells. Blocks of level 0 are leaves, all others parents.
inline constexpr int kLeafSide = kWordBits;
inline constexpr int kMaxBlockLevel = std::bit_width(unsigned{kMaxMapSide / kLeafSide} - 1);
inline constexpr int kLeafShift = std::countr_zero(unsigned{kLeafSide});
constexpr int BlockSide(int level) { return kLeafSide << level; }

struct ComponentBlock {
  // Border. Null only in a root that is a parent, as nothing lies beyond it.
  std::shared_ptr<const ComponentBorder> border;
  // Number of components on the border, which are numbered first, and number of all components.
  ComponentNumber open = 0;
  ComponentNumber components = 0;
  // Bytes held by this block and its descendants, without open blocks (see OpenBlock).
  std::size_t bytes = 0;
};

// Identity of a component: the lowest block that contains all of it, and its number there.
struct ComponentId {
  const ComponentBlock* block = nullptr;
  ComponentNumber number = 0;

  friend bool operator==(const ComponentId&, const ComponentId&) = default;
};

struct ComponentParent : ComponentBlock {
  // The child at (x, y), each 0 or 1, has index 2 * y + x. A child without a set cell is null.
  static constexpr std::size_t kChildCount = 4;
  using Children = std::array<std::shared_ptr<const ComponentBlock>, kChildCount>;

  Children children;
  // upward[i][c] is the component of this block that contains open component c of child i.
  std::array<const ComponentNumber*, kChildCount> upward{};
  std::shared_ptr<const ComponentNumber[]> upward_storage;

  // Returns the index of the child that contains cell (x, y) of the map, in the block of this level that
  // contains it. Blocks start at multiples of their side.
  static std::size_t ChildAt(int x, int y, int level) {
    const int shift = kLeafShift + level - 1;
    return static_cast<unsigned>((y >> shift & 1) << 1 | (x >> shift & 1));
  }
};

// A cell on the sides of a block that was set or cleared, and the component that gained or lost it.
struct SideFlip {
  Cell cell;
  ComponentNumber component = 0;
};

// Block that replaces another when its cells change.
struct Successor {
  std::shared_ptr<const ComponentBlock> block;
  // True if the block has the same components with the same numbers as the old one, except for the cells in
  // `flips`, none of which joins or splits components in this block or a larger one.
  bool is_alike = false;
  std::vector<SideFlip> flips;
};

// Returns the block of this level, above 0, with these children; a root has no border. Cost is proportional
// to the runs on the children's borders.
std::shared_ptr<ComponentParent> JoinBlocks(const ComponentParent::Children& children, int level,
                                            Adjacency adjacency, bool is_root);

// Returns a copy of `parent` with this border and these children.
// REQUIRES: the border is that of the children; each child has the same components with the same numbers as
// the one that it replaces, joined as before.
std::shared_ptr<ComponentParent> ReplaceChildren(const ComponentParent& parent,
                                                 ComponentParent::Children children,
                                                 std::shared_ptr<const ComponentBorder> border);

// Returns the block in which each leaf is one component and all cells on the leaves' sides are set. Cells
// inside the leaves may be clear. Every call returns the same object.
const std::shared_ptr<const ComponentBlock>& OpenBlock(int level);

}  // namespace waystar::core
