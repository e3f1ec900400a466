// The working memory of whoever serves a call.
#pragma once

#include <cstddef>

#include "server/core/field/field_scratch.h"
#include "server/core/graph_search/graph_scratch.h"
#include "server/core/search/scratch.h"

namespace waystar::rpc {

// Thread safety: none.
struct Workbench {
  explicit Workbench(std::size_t scratch_bytes) : scratch(scratch_bytes), graph_scratch(scratch_bytes) {}

  core::Scratch scratch;
  core::FieldScratch field_scratch;
  core::GraphScratch graph_scratch;
};

}  // namespace waystar::rpc
