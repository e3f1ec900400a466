// Connected components on the sides of a square block of cells.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/components/label_forest.h"

namespace waystar::core {

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

// Returns the border after the flips, applied in order, or nothing if components would have to be renumbered.
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

  // Number of components that have a number.
  ComponentNumber count() const { return next_; }

 private:
  static constexpr ComponentNumber kNoNumber = 0xFFFF;
  static constexpr std::size_t kUsualRuns = 128;

  const LabelForest& labels_;
  // Numbers by lowest label.
  std::vector<ComponentNumber> numbers_;
  ComponentNumber next_ = 0;
  std::size_t side_ = 0;
  // Runs of the border, kept here so that the border allocates exactly the memory it needs.
  absl::InlinedVector<BorderRun, kUsualRuns> runs_;
  ComponentBorder border_;
};

}  // namespace waystar::core
