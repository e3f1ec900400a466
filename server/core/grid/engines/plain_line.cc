#include "server/core/grid/engines/plain_line.h"

#include <cstdint>

#include "server/base/memory_account.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

// Cost, in expansions, of judging a uniform tile and one neighbourhood.
constexpr std::uint64_t kExpansionsPerTile = 64;
constexpr std::uint64_t kExpansionsPerNeighbourhood = 4;

constexpr PlainCells::Tile kNonePlain;

}  // namespace

const PlainCells::Tile& PlainGround::Judge(std::size_t column, std::size_t row) {
  if (!end_) {
    end_ = budget_.upkeep != nullptr && !budget_.upkeep->TryTake(kExpansionsPerTile)
               ? SearchEnd::kExpansionLimit
               : InterruptionAlone(budget_);
  }
  if (end_) {
    return kNonePlain;
  }
  PlainCells::Work work;
  const PlainCells::Tile& tile = plain_.Judge(map_, column, row, work);
  if (budget_.upkeep != nullptr) {
    budget_.upkeep->Take(kExpansionsPerNeighbourhood * work.neighbourhoods);
  }
  if (MemoryAccount* const account = map_.memory_account()) {
    account->Add(sizeof(tile));
  }
  return tile;
}

}  // namespace waystar::core
