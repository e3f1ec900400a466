// Finds the answers of a grid that a change may end, without a look at the others.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/functional/function_ref.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/watch/cost_bound.h"
#include "server/core/watch/grid_answer.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Index of answers by the tiles of a map. Each tile lists, by their place in a vector, the answers whose path
// passes it, and those for which a cheaper path may pass it. Memory: at most 550 bytes for each answer.
//
// Thread safety: none.
class GridTiles {
 public:
  using AnswerAt = absl::FunctionRef<const GridAnswer&(std::size_t place)>;

  // Makes an empty index. All revisions have the size of `map`.
  explicit GridTiles(const GridMap& map);

  void Add(std::size_t place, const GridAnswer& answer) { Mark(place, answer, true); }
  void Remove(std::size_t place, const GridAnswer& answer) { Mark(place, answer, false); }

  // Returns the places of answers that the change may end, as bits, or null if it may be any of the `count`
  // answers. Valid until the next call.
  const std::vector<Word>* Find(const GridChange& change, std::size_t count, AnswerAt answer_at);

 private:
  using Bits = std::vector<Word>;
  // A list of answers for each square tile of the map.
  struct Layer {
    Layer(const Rectangle& map, int min_side, int max_tiles_per_side);

    // Side of a tile in cells, and tiles in a row.
    int side;
    int columns;
    std::vector<Bits> tiles;
  };

  static void Set(Bits& bits, std::size_t place, bool value);
  void Mark(std::size_t place, const GridAnswer& answer, bool value);
  void MarkRegion(std::size_t place, const GridAnswer& answer, bool value);
  // Adds the answers of the tiles that the cells touch to found_.
  void Take(const Rectangle& cells, Layer& layer);
  // Calls visit(list of the tile, cells of the tile) for each tile that the cells touch.
  template <typename Visitor>
  void VisitTiles(const Rectangle& cells, Layer& layer, Visitor visit);

  const Rectangle map_;
  // Answers whose path passes a tile, and answers of which a cheaper path may pass it.
  Layer paths_;
  Layer regions_;
  // Answers that a change anywhere may end.
  Bits everywhere_;
  // Lower bound of the costs of all maps seen; the regions are based on it.
  LeastCosts least_;
  Bits found_;
};

}  // namespace waystar::core
