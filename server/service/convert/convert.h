// Conversion between the messages of the contract and the values of the core: maps, and what all share.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "google/protobuf/timestamp.pb.h"
#include "server/base/error.h"
#include "server/core/grid/cells/world_frame.h"
#include "server/core/grid/field/cost_matrix.h"
#include "server/core/grid/field/grid_fields.h"
#include "server/core/grid/field/sample_cells.h"
#include "server/core/grid/path/line_of_sight.h"
#include "server/core/grid/search/agent.h"
#include "server/core/map/map_version.h"
#include "server/core/store/map_store.h"
#include "server/core/store/update_batch.h"
#include "server/formats/detect/import_map.h"
#include "server/formats/text/rows.h"
#include "server/geometry/box.h"
#include "server/geometry/cell.h"
#include "server/service/convert/hex_coordinates.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::rpc {

// The following convert from the wire. Errors are INVALID_ARGUMENT with the field by its path from the
// request's root: UNKNOWN_ENUM_VALUE for a number that the enum does not have, MISSING_FIELD, BAD_TERRAIN.
absl::Status UnknownEnumValue(absl::string_view field, int value);
absl::Status MissingField(absl::string_view field);

// Returns the value of the core for one of the contract, by a table of equivalent values, or
// UnknownEnumValue.
template <typename Wire, typename Core, std::size_t kSize>
absl::StatusOr<Core> FromWire(const std::pair<Wire, Core> (&table)[kSize], Wire value,
                              absl::string_view field) {
  for (const auto& [wire, own] : table) {
    if (wire == value) {
      return own;
    }
  }
  return UnknownEnumValue(field, value);
}
// Returns the first value of the contract for one of the core, or 0, which means unspecified.
template <typename Wire, typename Core, std::size_t kSize>
constexpr Wire ToWire(const std::pair<Wire, Core> (&table)[kSize], Core value) {
  for (const auto& [wire, own] : table) {
    if (own == value) {
      return wire;
    }
  }
  return Wire{};
}

core::Cell ToCell(const v1::Cell& cell);
std::vector<core::Cell> ToCells(const google::protobuf::RepeatedPtrField<v1::Cell>& cells,
                                const HexCoordinates& coordinates);

// Returns INVALID_ARGUMENT / UNKNOWN_ENUM_VALUE with that field if it is unspecified or unknown.
absl::StatusOr<core::HexLayout> ToHexLayout(v1::HexLayout layout, absl::string_view field);

// Checks a map version in a request. Returns INVALID_ARGUMENT / BAD_VALUE with "FIELD.epoch" for a revision
// without an epoch.
absl::Status CheckVersion(const v1::Version& version, absl::string_view field);

// Checks that a snapshot with that version is not older than the view's least version. Returns the errors of
// CheckVersion and FAILED_PRECONDITION / MAP_REPLACED, both with field "view.least_version.epoch", or
// UNAVAILABLE / REVISION_NOT_YET with field "view.least_version".
absl::Status CheckLeastVersion(const core::MapVersion& version, const v1::View& view);

// Returns the `expected_version` of a change, or the errors of CheckVersion.
absl::StatusOr<core::ExpectedVersion> ToExpectedVersion(const v1::Version& version);

// Converts by the rules of google/protobuf/duration.proto. Returns INVALID_ARGUMENT with `reason` and
// `field`.
absl::StatusOr<absl::Duration> ToDuration(const google::protobuf::Duration& duration, ErrorReason reason,
                                          absl::string_view field);
std::chrono::nanoseconds ToNanoseconds(const google::protobuf::Duration& duration);

core::WorldPoint ToWorldPoint(const v1::Position& position);
// Returns INVALID_ARGUMENT / BAD_VALUE with field "low" or "high" if one is NaN, or low is above high.
absl::StatusOr<core::HeightRange> ToHeightRange(const v1::HeightRange& range);
// Omits bounds that are no limit.
void FillHeightRange(const core::HeightRange& heights, v1::HeightRange& out);
absl::StatusOr<core::GridOverrides> ToOverrides(const v1::GridOptions& options);

// Return the format in which to read `bytes`, and to write.
absl::StatusOr<std::optional<core::MeshAxes>> ToMeshAxes(v1::MeshAxes axes);
absl::StatusOr<core::MapFormat> ToReadFormat(v1::MapFormat format, const std::string& bytes);
absl::StatusOr<core::MapFormat> ToWriteFormat(v1::MapFormat format);

// The following convert to the wire.
v1::MapFormat FromFormat(core::MapFormat format);
void FillCell(core::Cell cell, v1::Cell& out);
void FillPosition(const core::WorldPoint& position, v1::Position& out);
void FillDuration(absl::Duration duration, google::protobuf::Duration& out);
void FillDuration(std::chrono::nanoseconds duration, google::protobuf::Duration& out);
void FillTimestamp(absl::Time time, google::protobuf::Timestamp& out);
void FillVersion(const core::MapVersion& version, v1::Version& out);
// Fills in everything but the statistics.
void FillInfo(const core::MapVersion& version, std::optional<std::chrono::nanoseconds> staleness,
              double bound, v1::AnswerInfo& out);
v1::MapKind FromKind(core::MapKind kind);
void FillMapInfo(const core::MapStore& store, const core::MapSnapshot& snapshot, v1::MapInfo& info);
void FillUpdateResult(const core::UpdateResult& result, const HexCoordinates& coordinates,
                      v1::UpdateMapResponse& response);
// Fills in all but the edits.
void FillCommit(const core::Commit& commit, const HexCoordinates& coordinates, v1::MapRevision& out);

// Fields and rays.
void FillReachable(const core::ReachableCells& reachable, const HexCoordinates& coordinates,
                   v1::FindReachableResponse& response);
// `part` is the region of the field in client coordinates.
void FillFlowField(const core::FlowField& field, const core::Rectangle& part,
                   const HexCoordinates& coordinates, v1::ComputeFlowFieldResponse& response);
void FillRayHit(const core::RayHit& hit, const core::WorldFrame& frame, const HexCoordinates& coordinates,
                v1::CastRayResponse& response);

// Returns MissingField unless the field is given.
inline absl::Status CheckGiven(bool is_given, absl::string_view field) {
  return is_given ? absl::OkStatus() : MissingField(field);
}

// Returns the value, or its error with the field below `parent`.
template <typename T>
absl::StatusOr<T> Below(absl::string_view parent, absl::StatusOr<T> value) {
  if (value.ok()) {
    return value;
  }
  return WithFieldPrefix(value.status(), absl::StrCat(parent, "."));
}

// Sets a field from one of a message, if that is given.
template <typename Value, typename Field>
void TakeIf(bool is_given, const Value& value, Field& field) {
  if (is_given) {
    field = value;
  }
}

// Converts the entries of a list.
template <typename Message, typename Convert>
auto Converted(const google::protobuf::RepeatedPtrField<Message>& messages, Convert convert) {
  std::vector<decltype(convert(messages[0]))> converted;
  converted.reserve(static_cast<std::size_t>(messages.size()));
  for (const Message& message : messages) {
    converted.push_back(convert(message));
  }
  return converted;
}

}  // namespace waystar::rpc
