#include "server/core/grid/walk/footprint_grids.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/grid/cells/bit_row.h"

namespace waystar::core {

FootprintGrids::State FootprintGrids::Copy() const {
  MutexLock lock(mutex_);
  return state_;
}

FootprintGrids::State FootprintGrids::WaitAndCopy() const {
  std::vector<std::shared_ptr<const Build>> builds;
  {
    MutexLock lock(mutex_);
    builds = builds_;
  }
  for (const auto& build : builds) {
    build->grid.Wait();
  }
  std::vector<Kept> dropped;
  MutexLock lock(mutex_);
  for (const auto& build : builds) {
    if (build->grid.GetIfMade() != nullptr) {
      Keep(*build, dropped);
    }
  }
  return state_;
}

// The new revision waits for grids being made. Otherwise, on a map that changes faster than that, every
// revision would make them again.
FootprintGrids::FootprintGrids(const FootprintGrids& before, const BitPlane& cells,
                               absl::Span<const WordChange> changes)
    : state_(before.WaitAndCopy()) {
  MutexLock lock(mutex_);
  for (Kept& kept : state_.kept) {
    BitPlane eroded = kept.grid->rows();
    const std::vector<WordChange> changed = RepairEroded(cells, kept.side, changes, eroded);
    if (!changed.empty()) {
      kept.grid = std::make_shared<const WalkGrid>(*kept.grid, std::move(eroded), changed);
    }
  }
}

FootprintGrids::FootprintGrids(const FootprintGrids& before, const BitPlane& cells)
    : state_(before.WaitAndCopy()) {
  MutexLock lock(mutex_);
  std::vector<Kept>& all = state_.kept;
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) { return a.last_use > b.last_use; });
  all.resize(std::min(all.size(), kAlwaysKept));
  for (Kept& kept : all) {
    auto grid = std::make_shared<WalkGrid>(Eroded(cells, kept.side), kept.grid->index_memory());
    grid->PrepareLike(*kept.grid);
    kept.grid = std::move(grid);
  }
}

std::size_t FootprintGrids::BytesKeptOver(const WalkGrid& single) {
  constexpr std::size_t kBytesPerCell = 4;
  return 2 * single.index_memory().max_bytes +
         kBytesPerCell * static_cast<std::size_t>(single.width()) * static_cast<std::size_t>(single.height());
}

FootprintGrids::Grid FootprintGrids::Get(const WalkGrid& single, int side) const {
  return Get(side, BytesKeptOver(single), [&] {
    // kAlwaysKept sizes together get as much index memory as agents of one cell.
    return std::make_shared<const WalkGrid>(Eroded(single.rows(), side),
                                            single.index_memory().DividedBy(kAlwaysKept));
  });
}

FootprintGrids::Grid FootprintGrids::Get(int side, std::size_t kept_bytes,
                                         absl::FunctionRef<Grid()> make) const {
  std::shared_ptr<const Build> build;
  {
    MutexLock lock(mutex_);
    ++state_.uses;
    const auto kept = std::find_if(state_.kept.begin(), state_.kept.end(),
                                   [&](const Kept& other) { return other.side == side; });
    if (kept != state_.kept.end()) {
      kept->last_use = state_.uses;
      kept->was_used = true;
      return kept->grid;
    }
    const auto begun =
        std::find_if(builds_.begin(), builds_.end(), [&](const auto& other) { return other->side == side; });
    if (begun != builds_.end()) {
      build = *begun;
    } else {
      auto begins = std::make_shared<Build>();
      begins->side = side;
      begins->kept_bytes = kept_bytes;
      build = std::move(begins);
      builds_.push_back(build);
    }
  }
  Grid grid = build->grid.Get(make);
  // Declared before the lock, so that grids are freed outside it.
  std::vector<Kept> dropped;
  MutexLock lock(mutex_);
  Keep(*build, dropped);
  return grid;
}

void FootprintGrids::Keep(const Build& build, std::vector<Kept>& dropped) const {
  const auto begun =
      std::find_if(builds_.begin(), builds_.end(), [&](const auto& other) { return other.get() == &build; });
  if (begun == builds_.end()) {
    return;
  }
  std::vector<Kept>& all = state_.kept;
  all.push_back({.side = build.side, .last_use = state_.uses, .grid = *build.grid.GetIfMade()});
  builds_.erase(begun);
  std::size_t bytes = 0;
  for (const Kept& kept : all) {
    bytes += kept.grid->memory_bytes();
  }
  const auto is_too_much = [&](const std::vector<Kept>& grids) {
    return grids.size() > kAlwaysKept && bytes > build.kept_bytes;
  };
  if (!is_too_much(all)) {
    return;
  }
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) { return a.last_use < b.last_use; });
  // Drop jump indexes first: searches can do without them, but not without cells and components.
  for (auto kept = all.begin(); kept != all.end() && is_too_much(all); ++kept) {
    Grid lean = kept->grid->WithoutJumpIndexes();
    const std::size_t saved = kept->grid->memory_bytes() - lean->memory_bytes();
    if (saved > 0) {
      bytes -= saved;
      dropped.push_back(*kept);
      kept->grid = std::move(lean);
    }
  }
  while (is_too_much(all)) {
    bytes -= all.front().grid->memory_bytes();
    dropped.push_back(std::move(all.front()));
    all.erase(all.begin());
  }
}

bool FootprintGrids::Has(int side) const {
  MutexLock lock(mutex_);
  return FindIn(state_, side) != nullptr;
}

void FootprintGrids::Drop(bool used_too) const {
  // Declared before the lock, so that grids are freed outside it.
  std::vector<Kept> dropped;
  MutexLock lock(mutex_);
  const auto is_kept = [&](const Kept& kept) { return kept.was_used && !used_too; };
  const auto first = std::stable_partition(state_.kept.begin(), state_.kept.end(), is_kept);
  std::move(first, state_.kept.end(), std::back_inserter(dropped));
  state_.kept.erase(first, state_.kept.end());
  for (Kept& kept : state_.kept) {
    kept.was_used = false;
  }
}

const FootprintGrids::Kept* FootprintGrids::FindIn(const State& state, int side) {
  const auto found =
      std::find_if(state.kept.begin(), state.kept.end(), [&](const Kept& kept) { return kept.side == side; });
  return found == state.kept.end() ? nullptr : &*found;
}

bool FootprintGrids::NeedsBackgroundBuild() const {
  MutexLock lock(mutex_);
  return std::any_of(state_.kept.begin(), state_.kept.end(),
                     [](const Kept& kept) { return kept.grid->NeedsBackgroundBuild(); });
}

bool FootprintGrids::BuildInBackground(CancelFlag cancelled) const {
  bool has_made = false;
  for (const Kept& kept : Copy().kept) {
    has_made = kept.grid->BuildInBackground(cancelled) || has_made;
  }
  return has_made;
}

void FootprintGrids::FollowCloser(const FootprintGrids& before) const {
  const State own = Copy();
  const State others = before.Copy();
  for (const Kept& kept : own.kept) {
    if (const Kept* found = FindIn(others, kept.side)) {
      kept.grid->FollowCloser(*found->grid);
    }
  }
}

std::size_t FootprintGrids::memory_bytes() const {
  const State state = Copy();
  std::size_t bytes = sizeof(*this);
  for (const Kept& kept : state.kept) {
    bytes += kept.grid->memory_bytes();
  }
  return bytes;
}

std::size_t FootprintGrids::BytesBeyond(const FootprintGrids& other) const {
  if (this == &other) {
    return 0;
  }
  const State own = Copy();
  const State others = other.Copy();
  std::size_t bytes = sizeof(*this);
  for (const Kept& kept : own.kept) {
    const Kept* found = FindIn(others, kept.side);
    bytes += found == nullptr ? kept.grid->memory_bytes() : kept.grid->BytesBeyond(*found->grid);
  }
  return bytes;
}

namespace {

// Returns the cells of word i of a row that start a run of `side` set cells.
Word RunsOf(const Word* row, std::size_t i, std::size_t last, int side) {
  Word low = row[i];
  Word high = i < last ? row[i + 1] : 0;
  int length = 1;
  while (length < side) {
    const int more = std::min(length, side - length);
    low &= low >> more | high << (kWordBits - more);
    high &= high >> more;
    length += more;
  }
  return low;
}

Word ErodedWord(const BitPlane& cells, int side, int y, std::size_t i) {
  const auto last = static_cast<std::size_t>(WordsPerRow(cells.width())) - 1;
  Word word = y + side <= cells.height() ? ~Word{0} : 0;
  for (int row = y; row < y + side && word != 0; ++row) {
    word &= RunsOf(cells.row(row), i, last, side);
  }
  return word;
}

}  // namespace

absl::Status CheckFootprint(int footprint) {
  if (footprint >= 1 && footprint <= kMaxFootprint) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kBadValue, "footprint",
                   absl::StrCat("a footprint must be 1 to ", kMaxFootprint, " cells, got ", footprint));
}

BitPlane Eroded(const BitPlane& cells, int side) {
  BitPlane eroded(cells.width(), cells.height(), false);
  BitPlaneWriter writer(eroded);
  for (int y = 0; y + side <= cells.height(); ++y) {
    ForEachWord(0, cells.width(), [&](std::size_t i, Word) {
      if (const Word word = ErodedWord(cells, side, y, i); word != 0) {
        writer.row(y)[i] = word;
      }
    });
  }
  return eroded;
}

std::vector<WordChange> RepairEroded(const BitPlane& cells, int side, absl::Span<const WordChange> changes,
                                     BitPlane& eroded) {
  // An agent that covers a changed cell stands up to side - 1 cells above it and to its left.
  std::vector<std::pair<std::int32_t, std::int32_t>> words;
  for (const WordChange& change : changes) {
    for (std::int32_t y = std::max(change.y - side + 1, 0); y <= change.y; ++y) {
      words.emplace_back(y, change.index);
      if (change.index > 0) {
        words.emplace_back(y, change.index - 1);
      }
    }
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());

  std::vector<WordChange> changed;
  BitPlaneWriter writer(eroded);
  for (const auto& [y, index] : words) {
    const auto i = static_cast<std::size_t>(index);
    const Word flipped = eroded.row(y)[i] ^ ErodedWord(cells, side, y, i);
    if (flipped != 0) {
      writer.row(y)[i] ^= flipped;
      changed.push_back({y, index, flipped});
    }
  }
  return changed;
}

}  // namespace waystar::core
