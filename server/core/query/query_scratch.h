// The working memory of threads that solve queries.
#pragma once

#include <cstddef>
#include <memory>

#include "server/core/field/field_scratch.h"
#include "server/core/graph_search/graph_scratch.h"
#include "server/core/mesh_search/mesh_scratch.h"
#include "server/core/search/scratch.h"

namespace waystar::core {

// Kept from query to query, so that a search allocates nothing. Thread safety: none.
struct QueryScratch {
  // So much may always be kept.
  static constexpr std::size_t kSmallBytes = std::size_t{2} << 20;

  // Each search may take this many bytes.
  explicit QueryScratch(std::size_t bytes)
      : max_bytes(bytes), scratch(bytes), graph_scratch(bytes), mesh_scratch(bytes) {}

  // Begins anew, and frees all memory. What std::bad_alloc has ended may leave a scratch behind that no
  // search can use: it has to be renewed.
  void Renew() {
    const std::size_t bytes = max_bytes;
    std::destroy_at(this);
    std::construct_at(this, bytes);
  }

  std::size_t kept_bytes() const {
    return scratch.kept_bytes() + field_scratch.memory_bytes() + graph_scratch.memory_bytes() +
           mesh_scratch.memory_bytes();
  }

  // Frees what is much larger than the searches of grids since the last call needed, all but kSmallBytes if
  // there were no queries, and lets go of maps. Call it now and then, and not while anybody reads the result
  // of a query.
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
