// The places of a path, written as fields of an answer without a message for each.
#pragma once

#include "absl/types/span.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/world_frame.h"
#include "server/rpc/call/written_message.h"

namespace waystar::rpc {

// The same bytes as what FillPoints and FillPositions fill in, for one that stands for a FindPathResponse.
void WritePoints(absl::Span<const core::Cell> points, WrittenMessage& answer);
void WritePositions(absl::Span<const core::Cell> points, const core::WorldFrame& frame,
                    WrittenMessage& answer);

}  // namespace waystar::rpc
