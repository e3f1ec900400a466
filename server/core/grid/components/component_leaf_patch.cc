#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/components/component_block.h"
#include "server/core/grid/components/component_leaf.h"

namespace waystar::core {
namespace {

// Maximum number of cells patched; patching more costs about as much as relabelling the leaf.
constexpr int kMaxPatchedCells = 24;

constexpr int kLast = kLeafSide - 1;

// A cell at the moment it flips, and the rows of the leaf around it.
struct Flip {
  Flip(const LeafFlips& flips, int x_of_it, int y_of_it)
      : x(x_of_it), y(y_of_it), rows(flips.RowsAround<1>(x, y)) {}

  bool is_set() const { return (rows[1] >> x & 1U) != 0; }

  int x;
  int y;
  std::array<Word, 3> rows;
};

// Returns the component of all neighbours of a clear cell, or kNoComponent if it has none or they differ.
ComponentNumber OneComponentAround(const Flip& flip, const LeafComponents& parts, Adjacency adjacency) {
  const Word cell = Word{1} << flip.x;
  const std::array<Word, 3> neighbours = {flip.rows[0] & NeighboursAbove(cell, adjacency),
                                          flip.rows[1] & (cell << 1 | cell >> 1),
                                          flip.rows[2] & NeighboursBelow(cell, adjacency)};
  if (parts.others.empty()) {
    return (neighbours[0] | neighbours[1] | neighbours[2]) == 0 ? kNoComponent : parts.main;
  }
  ComponentNumber one = kNoComponent;
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    for (Word left = neighbours[i]; left != 0; left &= left - 1) {
      const ComponentNumber component =
          parts.At({.x = std::countr_zero(left), .y = flip.y - 1 + static_cast<int>(i), .row = flip.rows[i]});
      if (one != kNoComponent && component != one) {
        return kNoComponent;
      }
      one = component;
    }
  }
  return one;
}

// Returns the component that gains or loses the cell, or kNoComponent if the flip may join, split, create or
// remove components.
ComponentNumber ComponentOf(const Flip& flip, const LeafFlips& flips, const LeafComponents& parts,
                            Adjacency adjacency) {
  if (!flip.is_set()) {
    return OneComponentAround(flip, parts, adjacency);
  }
  const bool stay_connected =
      IsSimple(flip.rows, flip.x, adjacency) ||
      AreNeighboursConnected(flips.RowsAround<kRowsNearby>(flip.x, flip.y), flip.x, adjacency);
  return stay_connected ? parts.At({.x = flip.x, .y = flip.y, .row = flip.rows[1]}) : kNoComponent;
}

bool IsOnSide(const Flip& flip) { return flip.x == 0 || flip.x == kLast || flip.y == 0 || flip.y == kLast; }

// Returns true if a flip on a side, which joins and splits nothing in the leaf, joins and splits nothing in
// larger blocks either. False for corners, because both sides of a corner see the flip differently.
bool JoinsNothingBeyond(const Flip& flip, const LeafFlips& flips, Adjacency adjacency) {
  const bool is_corner = (flip.x == 0 || flip.x == kLast) && (flip.y == 0 || flip.y == kLast);
  return !is_corner && IsSimple(flips.PlaneAround(flip.x, flip.y), 1, adjacency);
}

// Copy of a leaf to which flips are applied one by one.
class Patch {
 public:
  explicit Patch(const ComponentLeaf& leaf) : leaf_(leaf), count_(leaf.others.size()) {
    std::copy(leaf.others.begin(), leaf.others.end(), others_.begin());
  }

  // Returns the components before the next flip.
  LeafComponents parts() const { return {leaf_.main, absl::MakeConstSpan(others_.data(), count_)}; }

  void Apply(const Flip& flip, ComponentNumber component) {
    if (component != leaf_.main) {
      MoveRuns(flip, component);
    }
    const auto flip_if = [&](bool is_on_it, BorderSide side, int place) {
      if (is_on_it) {
        border_.push_back({side, static_cast<std::uint16_t>(place), component});
      }
    };
    flip_if(flip.y == 0, kNorthSide, flip.x);
    flip_if(flip.y == kLast, kSouthSide, flip.x);
    flip_if(flip.x == 0, kWestSide, flip.y);
    flip_if(flip.x == kLast, kEastSide, flip.y);
  }

  bool IsSame() const { return !moves_runs_ && border_.empty(); }

  // Returns the patched leaf, or null if components must be renumbered or the main component changes.
  std::shared_ptr<ComponentLeaf> Finish() const {
    auto patched = std::make_shared<ComponentLeaf>();
    static_cast<ComponentBlock&>(*patched) = leaf_;
    patched->main = leaf_.main;
    patched->others.assign(others_.begin(), others_.begin() + static_cast<std::ptrdiff_t>(count_));
    if (!border_.empty()) {
      std::optional<ComponentBorder> border = Flipped(*leaf_.border, border_);
      if (!border || MainComponent(*border, leaf_.components) != leaf_.main) {
        return nullptr;
      }
      patched->border = std::make_shared<const ComponentBorder>(*std::move(border));
    }
    patched->bytes = BytesOfLeaf(*patched);
    return patched;
  }

 private:
  static Word FirstCells(Word row) { return row & ~(row << 1); }

  // Updates the runs of `component`, which is not the main one: moves an end, splits a run or merges two.
  void MoveRuns(const Flip& flip, ComponentNumber component) {
    const Word before = FirstCells(flip.rows[1]);
    const Word now = FirstCells(flip.rows[1] ^ Word{1} << flip.x);
    for (Word gone = before & ~now; gone != 0; gone &= gone - 1) {
      Erase(PlaceOf(std::countr_zero(gone), flip.y));
    }
    for (Word added = now & ~before; added != 0; added &= added - 1) {
      Insert({.place = PlaceOf(std::countr_zero(added), flip.y), .component = component});
    }
    moves_runs_ = true;
  }

  static std::uint16_t PlaceOf(int x, int y) { return static_cast<std::uint16_t>(kLeafSide * y + x); }

  LeafRun* Find(std::uint16_t place) {
    return std::lower_bound(others_.data(), others_.data() + count_, place,
                            [](const LeafRun& run, std::uint16_t wanted) { return run.place < wanted; });
  }

  void Erase(std::uint16_t place) {
    LeafRun* const run = Find(place);
    std::copy(run + 1, others_.data() + count_, run);
    --count_;
  }

  void Insert(LeafRun added) {
    LeafRun* const run = Find(added.place);
    std::copy_backward(run, others_.data() + count_, others_.data() + count_ + 1);
    *run = added;
    ++count_;
  }

  const ComponentLeaf& leaf_;
  // Runs of components other than the main one.
  std::size_t count_;
  std::array<LeafRun, kMaxRunsPerLeaf> others_;
  bool moves_runs_ = false;
  std::vector<BorderFlip> border_;
};

}  // namespace

bool KeepsLeaf(const ComponentLeaf& leaf, const LeafFlips& flips, int x, int y, Adjacency adjacency) {
  return leaf.main != kNoComponent &&
         ComponentOf(Flip(flips, x, y), flips, leaf.parts(), adjacency) == leaf.main;
}

Successor PatchLeaf(const std::shared_ptr<const ComponentBlock>& before, const LeafFlips& flips,
                    absl::Span<const LeafRowKey> rows, Adjacency adjacency) {
  Patch patch(static_cast<const ComponentLeaf&>(*before));
  Successor successor{.is_alike = true};
  int cells = 0;
  for (const LeafRowKey row : rows) {
    const int y = RowOf(row);
    for (Word left = flips.At(y); left != 0; left &= left - 1) {
      const Flip flip(flips, std::countr_zero(left), y);
      const ComponentNumber component = ComponentOf(flip, flips, patch.parts(), adjacency);
      if (component == kNoComponent || ++cells > kMaxPatchedCells) {
        return {};
      }
      patch.Apply(flip, component);
      if (IsOnSide(flip)) {
        successor.is_alike = successor.is_alike && JoinsNothingBeyond(flip, flips, adjacency);
        successor.flips.push_back({{flips.corner().x + flip.x, flips.corner().y + y}, component});
      }
    }
  }
  successor.block = patch.IsSame() ? before : patch.Finish();
  return successor;
}

}  // namespace waystar::core
