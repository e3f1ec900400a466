#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// "3.5,4" or "3.5,4,2": x, y and, if it is given, z.
absl::StatusOr<v1::Position> ParsePosition(absl::string_view text);

std::string FormatPosition(const v1::Position& position);

}  // namespace waystar::cli
