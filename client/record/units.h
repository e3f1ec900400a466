// The units of a recording: what of it can be played back.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/record/recording_file.h"
#include "google/rpc/status.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::record {

// A unary call, or what becomes one when it is played back: the query of a stream becomes a FindPath, a batch
// of a stream an UpdateObstacles, and an upload an ImportMap of one piece.
struct Unit {
  // The number of the call, as in RecordedEvent.
  std::uint64_t call = 0;
  std::int64_t begin_nanos = 0;
  std::int64_t end_nanos = 0;
  // "waystar.v1.PathService/FindPath".
  std::string method;
  // A message of the method's input type; for ImportMap it is the header.
  std::string request;
  // The file of an ImportMap.
  std::string file;
  // The answer, if `status` is OK.
  std::string response;
  google::rpc::Status status;
  // The map that the unit is about; empty if there is none.
  std::string map;
  // The epoch and the revision of the map that the answer names; 0 if it names none.
  std::uint64_t epoch = 0;
  std::uint64_t revision = 0;
  // Whether it creates, changes or deletes a map.
  bool is_update = false;
};

bool CreatesMap(const Unit& unit);

// Returns the version of a map that the answer to a call of that method names; an empty one if it names none.
v1::Version VersionIn(const std::string& method, const std::string& response);

struct Units {
  // The units in an order in which playing them one after the other gives what was recorded: that of each
  // map's revisions, else that in which the requests came in.
  std::vector<Unit> units;
  // What is not played back, by method: watches, traces, exports, calls without an end, and requests that
  // might end otherwise another time, because they were given up, too late, or refused for want of room.
  std::map<std::string, std::uint64_t> left_out;
};

// Reads a recording, which takes memory in proportion to it. Errors: those of RecordingReader::Next;
// DATA_LOSS if it has messages that are none of its methods.
absl::StatusOr<Units> ReadUnits(RecordingReader& reader);

}  // namespace waystar::record
