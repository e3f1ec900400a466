// The working memory of threads that solve queries.
#pragma once

#include <cstddef>

#include "server/core/field/field_scratch.h"
#include "server/core/graph_search/graph_scratch.h"
#include "server/core/search/scratch.h"

namespace waystar::core {

// Kept from query to query, so that a search allocates nothing. Thread safety: none.
struct QueryScratch {
  // Each search may take this many bytes.
  explicit QueryScratch(std::size_t bytes) : scratch(bytes), graph_scratch(bytes) {}

  Scratch scratch;
  FieldScratch field_scratch;
  GraphScratch graph_scratch;
};

}  // namespace waystar::core
