// Creation of maps in the store from what requests say of them.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/store/map_store.h"
#include "server/formats/detect/import_map.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::rpc {

// A map, and what of its file is not on it.
struct MadeMap {
  core::AnyMap map;
  core::ImportNotes notes;
};

// Returns the map that a CreateMap request draws, with no side over `max_side`. Returns the errors of the
// contract, with their fields, and that of `stop`.
absl::StatusOr<MadeMap> DrawMap(const v1::CreateMapRequest& request, int max_side,
                                const StopCheck* stop = nullptr);

// A file as a request holds it.
struct MapFileSource {
  v1::MapFormat format = v1::MAP_FORMAT_UNSPECIFIED;
  const std::string& bytes;
  const v1::GridOptions& grid;
  const v1::ImportOptions& import_options;
  // Prefix of the fields "format", "grid" and "import_options".
  absl::string_view prefix;
  // The field to blame for bad bytes.
  absl::string_view bytes_field;
};

// Parses a file. Returns INVALID_ARGUMENT / BAD_SOURCE for options of a grid where the file is a waypoint
// graph, the other errors of the contract, and that of `stop`.
absl::StatusOr<MadeMap> ParseMapFile(const MapFileSource& file, int max_side,
                                     const StopCheck* stop = nullptr);

// Returns the waypoint graph that a CreateMap request describes, with its reference map as it is now. Returns
// the errors of the contract, with their fields, and that of `stop`.
absl::StatusOr<core::WaypointGraph> BuildGraph(const core::MapStore& store,
                                               const v1::CreateMapRequest& request,
                                               const StopCheck* stop = nullptr);

// Returns FAILED_PRECONDITION / DIGEST_MISMATCH, which blames the field, if the map has another digest.
absl::Status CheckDigest(const core::AnyMap& map, std::uint64_t expected, absl::string_view field);

// Makes what searches use of a map, which may take long. It is called before the creation waits for others,
// so that these do not wait for it. Returns the error of `stop`; the map must not be used then.
absl::Status Prepare(const core::MapStore& store, core::AnyMap& map, const StopCheck* stop);

// Returns the map that a CreateMap request asks for, ready to be put into the store.
absl::StatusOr<MadeMap> MakeMap(const core::MapStore& store, int max_side,
                                const v1::CreateMapRequest& request, const StopCheck* stop);

void FillNotes(const core::ImportNotes& notes, google::protobuf::RepeatedPtrField<v1::ImportNote>& out);

enum class IfExists { kRefuse, kReplace };

// Puts a map into the store and logs that. `prefix` goes before the field "map".
absl::StatusOr<core::PinnedSnapshot> CreateInStore(core::MapStore& store, const std::string& id,
                                                   core::AnyMap map, absl::string_view prefix,
                                                   IfExists if_exists = IfExists::kRefuse,
                                                   core::CreationRequest request = {});

// Returns the id of a request, if it has one, and the fingerprint of all that it holds.
core::CreationRequest CreationRequestOf(const v1::CreateMapRequest& request);

}  // namespace waystar::rpc
