// The working memory of threads that solve queries.
#pragma once

#include <cstddef>
#include <memory>

#include "server/core/field/field_scratch.h"
#include "server/core/graph_search/graph_scratch.h"
#include "server/core/search/scratch.h"

namespace waystar::core {

// Kept from query to query, so that a search allocates nothing. Thread safety: none.
struct QueryScratch {
  // Each search may take this many bytes.
  explicit QueryScratch(std::size_t bytes) : max_bytes(bytes), scratch(bytes), graph_scratch(bytes) {}

  // Begins anew, and frees all memory. What std::bad_alloc has ended may leave a scratch behind that no
  // search can use: it has to be renewed.
  void Renew() {
    const std::size_t bytes = max_bytes;
    std::destroy_at(this);
    std::construct_at(this, bytes);
  }

  const std::size_t max_bytes;

  Scratch scratch;
  FieldScratch field_scratch;
  GraphScratch graph_scratch;
};

}  // namespace waystar::core
