// Working memory of a thread that solves queries.
#pragma once

#include <cstddef>
#include <memory>

#include "server/core/graph/search/graph_flood.h"
#include "server/core/grid/field/field_scratch.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/mesh/search/mesh_scratch.h"

namespace waystar::core {

// Kept between queries, so that a search need not allocate.
//
// Thread safety: none.
struct QueryScratch {
  // Trim never frees a scratch of at most this size.
  static constexpr std::size_t kSmallBytes = std::size_t{2} << 20;

  // `bytes` limits the memory of each kind of search.
  explicit QueryScratch(std::size_t bytes)
      : max_bytes(bytes), scratch(bytes), graph_scratch(bytes), mesh_scratch(bytes) {}

  // Resets the scratch and frees all memory. Required after std::bad_alloc, which may leave a scratch
  // unusable.
  void Renew() {
    const std::size_t bytes = max_bytes;
    std::destroy_at(this);
    std::construct_at(this, bytes);
  }

  std::size_t kept_bytes() const {
    return scratch.kept_bytes() + field_scratch.memory_bytes() + graph_scratch.memory_bytes() +
           mesh_scratch.memory_bytes();
  }

  // Frees memory far beyond what grid searches needed since the last call, or all memory above kSmallBytes if
  // there were no queries; also unpins maps. Call it periodically, but never while the result of a query is
  // in use.
  void Trim(bool had_queries) {
    if (!had_queries) {
      if (kept_bytes() > kSmallBytes) {
        Renew();
      }
    } else if (scratch.OutgrewNeed(kSmallBytes)) {
      std::destroy_at(&scratch);
      std::construct_at(&scratch, max_bytes);
    }
    scratch.portals().Clear();
  }

  const std::size_t max_bytes;

  Scratch scratch;
  FieldScratch field_scratch;
  GraphScratch graph_scratch;
  MeshScratch mesh_scratch;
};

}  // namespace waystar::core
