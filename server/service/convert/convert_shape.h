// Conversion between the messages of the contract and the values of the core: shapes.
#pragma once

#include "absl/status/statusor.h"
#include "server/geometry/cell.h"
#include "server/geometry/shape.h"
#include "server/service/convert/hex_coordinates.h"
#include "waystar/v1/edits.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::rpc {

// The following convert from the wire. Errors are INVALID_ARGUMENT / MISSING_FIELD with the field path from
// the shape, such as "discs[0].center", and those of `coordinates`. The core checks everything else.
core::Rectangle ToRectangle(const v1::Rectangle& rectangle);
absl::StatusOr<core::Shape> ToShape(const v1::Shape& shape, const HexCoordinates& coordinates);

// The following fill empty messages. ToShape is the inverse of FillShape.
void FillRectangle(const core::Rectangle& rectangle, v1::Rectangle& out);
void FillShape(const core::Shape& shape, const HexCoordinates& coordinates, v1::Shape& out);

}  // namespace waystar::rpc
