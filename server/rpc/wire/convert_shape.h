// Between the messages of the contract and the values of the core: shapes.
#pragma once

#include "absl/status/statusor.h"
#include "server/core/grid/cell.h"
#include "server/core/shape/shape.h"
#include "server/rpc/wire/hex_coordinates.h"
#include "waystar/v1/edits.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::rpc {

// From the wire. INVALID_ARGUMENT / MISSING_FIELD with the field by its path from the shape, such as
// "discs[0].center", and the errors of `coordinates`. All else is for the core to check.
core::Rectangle ToRectangle(const v1::Rectangle& rectangle);
absl::StatusOr<core::Shape> ToShape(const v1::Shape& shape, const HexCoordinates& coordinates);

// To the wire: into messages that are empty. ToShape makes of what FillShape wrote the shape that it was.
void FillRectangle(const core::Rectangle& rectangle, v1::Rectangle& out);
void FillShape(const core::Shape& shape, v1::Shape& out);

}  // namespace waystar::rpc
