#include "server/core/grid/cells/static_index.h"

#include <algorithm>
#include <iterator>

namespace waystar::core {
namespace {

std::vector<WordIndex> PlacesOf(absl::Span<const WordChange> changes) {
  std::vector<WordIndex> places;
  places.reserve(changes.size());
  std::ranges::transform(changes, std::back_inserter(places), &WordChange::place);
  return places;
}

// Returns the index with those of the words, in ascending order, in which its cells differ from `rows`; null
// if they are too many.
std::shared_ptr<const StaticIndexSlot::Held> Compare(std::shared_ptr<const StaticIndex> index,
                                                     absl::Span<const WordIndex> words,
                                                     const BitPlane& rows) {
  StaticIndexSlot::Held held;
  for (const WordIndex& word : words) {
    const auto place = static_cast<std::size_t>(word.index);
    const Word now = rows.word(word.y, place);
    const Word differing = index->cells().rows().word(word.y, place) ^ now;
    if (differing == 0) {
      continue;
    }
    if (held.changed.size() == StaticIndexSlot::kMostChanged) {
      return nullptr;
    }
    held.changed.push_back(word);
    ForEachCell({word.y, word.index, differing & now}, [&](Cell cell) { held.freed.push_back(cell); });
  }
  held.index = std::move(index);
  return std::make_shared<const StaticIndexSlot::Held>(std::move(held));
}

}  // namespace

StaticIndexSlot::StaticIndexSlot(const StaticIndexSlot& before, absl::Span<const WordChange> changes,
                                 const BitPlane& rows)
    : is_wanted_(before.is_wanted()) {
  const std::shared_ptr<const Held> held = before.held();
  if (held == nullptr) {
    return;
  }
  std::vector<WordIndex> words;
  std::ranges::set_union(held->changed, PlacesOf(changes), std::back_inserter(words));
  MutexLock lock(mutex_);
  held_ = Compare(held->index, words, rows);
}

void StaticIndexSlot::Put(std::shared_ptr<const StaticIndex> index, const BitPlane& rows) {
  const std::vector<WordIndex> words = PlacesOf(DifferencesBetween(index->cells().rows(), rows));
  std::shared_ptr<const Held> held = Compare(std::move(index), words, rows);
  if (held != nullptr) {
    MutexLock lock(mutex_);
    held_ = std::move(held);
  }
}

}  // namespace waystar::core
