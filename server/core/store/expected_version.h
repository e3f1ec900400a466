// The version that a change requires the map to have.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/core/map/map_version.h"

namespace waystar::core {

// An unset field matches any value.
struct ExpectedVersion {
  std::optional<std::uint64_t> epoch;
  std::optional<std::uint64_t> revision;
};

// Return OK if the map's version matches; else FAILED_PRECONDITION / MAP_REPLACED with field
// "expected_version.epoch", or ABORTED / STALE_REVISION with field "expected_version".
absl::Status CheckEpoch(absl::string_view id, const MapVersion& version, const ExpectedVersion& expected);
absl::Status CheckRevision(absl::string_view id, const MapVersion& version, const ExpectedVersion& expected);
absl::Status CheckVersion(absl::string_view id, const MapVersion& version, const ExpectedVersion& expected);

}  // namespace waystar::core
