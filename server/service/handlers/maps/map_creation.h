// Creation of maps in the store from requests.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/store/map_store.h"
#include "server/formats/detect/import_map.h"
#include "server/runtime/logging.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::rpc {

// A map, and notes on the ignored parts of its file.
struct MadeMap {
  core::AnyMap map;
  core::ImportNotes notes;
};

// Returns the map of a CreateMap request, with no side over `max_side`. Returns the errors of the contract,
// with their fields, and that of `stop`.
absl::StatusOr<MadeMap> DrawMap(const v1::CreateMapRequest& request, int max_side,
                                const StopCheck* stop = nullptr);

// A file within a request.
struct MapFileSource {
  v1::MapFormat format = v1::MAP_FORMAT_UNSPECIFIED;
  const std::string& bytes;
  const v1::GridOptions& grid;
  const v1::ImportOptions& import_options;
  // Prefix of the fields "format", "grid" and "import_options".
  absl::string_view prefix;
  // Field of errors in the bytes.
  absl::string_view bytes_field;
};

// Parses a file. Returns INVALID_ARGUMENT / BAD_SOURCE for grid options with a file of a waypoint graph, the
// other errors of the contract, and that of `stop`.
absl::StatusOr<MadeMap> ParseMapFile(const MapFileSource& file, int max_side,
                                     const StopCheck* stop = nullptr);

// Returns the waypoint graph of a CreateMap request, with the current state of its reference map. Returns the
// errors of the contract, with their fields, and that of `stop`.
absl::StatusOr<core::WaypointGraph> BuildGraph(const core::MapStore& store,
                                               const v1::CreateMapRequest& request,
                                               const StopCheck* stop = nullptr);

// Returns FAILED_PRECONDITION / DIGEST_MISMATCH, with `field`, if the map has another digest.
absl::Status CheckDigest(const core::AnyMap& map, std::uint64_t expected, absl::string_view field);

// Builds the search indexes of a map, which may take long. Called before the creation is queued, so that
// other creations do not wait for it. Returns the error of `stop`; the map must not be used then.
absl::Status Prepare(const core::MapStore& store, core::AnyMap& map, const StopCheck* stop);

// Returns the map of a CreateMap request, ready to be put into the store.
absl::StatusOr<MadeMap> MakeMap(const core::MapStore& store, int max_side,
                                const v1::CreateMapRequest& request, const StopCheck* stop);

void FillNotes(const core::ImportNotes& notes, google::protobuf::RepeatedPtrField<v1::ImportNote>& out);

enum class IfExists { kRefuse, kReplace };

// Puts a map into the store and logs that. `prefix` precedes the field "map".
absl::StatusOr<core::PinnedSnapshot> CreateInStore(core::MapStore& store, const std::string& id,
                                                   core::AnyMap map, absl::string_view prefix,
                                                   IfExists if_exists = IfExists::kRefuse,
                                                   core::CreationRequest request = {});

// Returns the id of a request, if it has one, and a fingerprint of its content.
core::CreationRequest CreationRequestOf(const v1::CreateMapRequest& request);

// Returns two log fields with the size of a map: width and height, nodes and edges, or polygons and vertices.
inline std::array<runtime::LogField, 2> SizeForLog(const core::GridMap& grid) {
  return {runtime::LogField("width", grid.width()), runtime::LogField("height", grid.height())};
}
inline std::array<runtime::LogField, 2> SizeForLog(const core::WaypointGraph& graph) {
  return {runtime::LogField("nodes", graph.node_count()), runtime::LogField("edges", graph.arc_count())};
}
inline std::array<runtime::LogField, 2> SizeForLog(const core::NavMesh& mesh) {
  return {runtime::LogField("polygons", mesh.polygon_count()),
          runtime::LogField("vertices", mesh.vertex_count())};
}

}  // namespace waystar::rpc
