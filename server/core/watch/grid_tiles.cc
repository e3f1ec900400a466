#include "server/core/watch/grid_tiles.h"

#include <algorithm>
#include <cstddef>

namespace waystar::core {
namespace {

// Minimum sides of tiles in cells and maximum numbers of tiles per side, for paths and for larger regions.
constexpr int kPathSide = 32;
constexpr int kPathsPerSide = 64;
constexpr int kRegionSide = 64;
constexpr int kRegionsPerSide = 16;

}  // namespace

GridTiles::Layer::Layer(const Rectangle& map, int min_side, int max_tiles_per_side)
    : side(std::max(min_side, (std::max(map.width, map.height) - 1) / max_tiles_per_side + 1)),
      columns((map.width - 1) / side + 1),
      tiles(static_cast<std::size_t>(columns) * static_cast<std::size_t>((map.height - 1) / side + 1)) {}

GridTiles::GridTiles(const GridMap& map)
    : map_{0, 0, map.width(), map.height()},
      paths_(map_, kPathSide, kPathsPerSide),
      regions_(map_, kRegionSide, kRegionsPerSide),
      least_(LeastCosts::BetweenCheapPlaces(map)) {}

template <typename Visitor>
void GridTiles::VisitTiles(const Rectangle& cells, Layer& layer, Visitor visit) {
  const Rectangle part = Intersect(cells, map_);
  if (part.empty()) {
    return;
  }
  const int side = layer.side;
  for (int row = part.y / side; row <= (part.y + part.height - 1) / side; ++row) {
    for (int column = part.x / side; column <= (part.x + part.width - 1) / side; ++column) {
      visit(layer.tiles[static_cast<std::size_t>(row) * static_cast<std::size_t>(layer.columns) +
                        static_cast<std::size_t>(column)],
            Rectangle{column * side, row * side, side, side});
    }
  }
}

void GridTiles::Set(Bits& bits, std::size_t place, bool value) {
  const std::size_t word = place / kWordBits;
  const Word bit = Word{1} << (place % kWordBits);
  if (value && word >= bits.size()) {
    bits.resize(word + 1);
  }
  if (value) {
    bits[word] |= bit;
  } else if (word < bits.size()) {
    bits[word] &= ~bit;
  }
}

void GridTiles::Mark(std::size_t place, const GridAnswer& answer, bool value) {
  if (answer.reach().is_unlimited) {
    Set(everywhere_, place, value);
    return;
  }
  for (const WordChange& word : answer.cells()) {
    VisitTiles(BoundsOf(word), paths_, [&](Bits& bits, const Rectangle&) { Set(bits, place, value); });
  }
  MarkRegion(place, answer, value);
}

void GridTiles::MarkRegion(std::size_t place, const GridAnswer& answer, bool value) {
  const ShortcutEnds none;
  const auto may_pass = [&](const Rectangle& cells) {
    return answer.reach().cheaper.MayBeCheaperBy(cells, {least_, none}, ShortcutEnds::kNone);
  };
  if (!may_pass(map_)) {
    return;
  }
  VisitTiles(map_, regions_, [&](Bits& bits, const Rectangle& cells) {
    if (may_pass(cells)) {
      Set(bits, place, value);
    }
  });
}

void GridTiles::Take(const Rectangle& cells, Layer& layer) {
  VisitTiles(cells, layer, [&](const Bits& bits, const Rectangle&) {
    found_.resize(std::max(found_.size(), bits.size()));
    for (std::size_t i = 0; i < bits.size(); ++i) {
      found_[i] |= bits[i];
    }
  });
}

const std::vector<Word>* GridTiles::Find(const GridChange& change, std::size_t count, AnswerAt answer_at) {
  if (change.least_.IsBelow(least_)) {
    least_ = {
        {std::min(change.least_.straight, least_.straight), std::min(change.least_.rising, least_.rising),
         std::min(change.least_.falling, least_.falling)},
        least_.lattice};
    for (Bits& bits : regions_.tiles) {
      bits.clear();
    }
    for (std::size_t place = 0; place < count; ++place) {
      if (const GridAnswer& answer = answer_at(place); !answer.reach().is_unlimited) {
        MarkRegion(place, answer, true);
      }
    }
  }
  // A path over a shortcut may pass any place.
  if (change.may_end_all_ || (!change.opened_.words.empty() && !change.shortcuts_.empty())) {
    return nullptr;
  }
  found_ = everywhere_;
  for (const GridChange::ChangedWord& word : change.blocked_.words) {
    Take(word.bounds, paths_);
  }
  for (const GridChange::ChangedWord& word : change.opened_.words) {
    Take(word.bounds, regions_);
  }
  return &found_;
}

}  // namespace waystar::core
