// What of a recording can be played back.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/record/recording_file.h"
#include "google/rpc/status.pb.h"

namespace waystar::record {

// A unary call, or what is one when it is played back: the query of a stream is a FindPath, a batch of a
// stream an UpdateObstacles, an upload an ImportMap of one piece.
struct Unit {
  // As in RecordedEvent.
  std::uint64_t call = 0;
  std::int64_t begin_nanos = 0;
  std::int64_t end_nanos = 0;
  // "waystar.v1.PathService/FindPath".
  std::string method;
  // A message of the method's input type; of ImportMap the header.
  std::string request;
  // Of ImportMap, the file.
  std::string file;
  // The answer, if `status` is OK.
  std::string response;
  google::rpc::Status status;
  // Empty if it is about none.
  std::string map;
  // Of the map, as the answer says; 0 if it does not.
  std::uint64_t revision = 0;
  // Whether it creates, changes or deletes a map.
  bool is_update = false;
};

bool CreatesMap(const Unit& unit);

// Of the answer to a call of that method; 0 if it names none.
std::uint64_t RevisionIn(const std::string& method, const std::string& response);

struct Units {
  // In an order in which one after the other gives what was recorded: of each map as its revisions tell, else
  // as the requests came in.
  std::vector<Unit> units;
  // What is not played back, by method: watches, traces, exports, calls without an end, and requests that
  // might end otherwise another time: given up, too late, or refused for want of room.
  std::map<std::string, std::uint64_t> left_out;
};

// Takes memory in proportion to the recording. Errors of RecordingReader::Next; DATA_LOSS if it has messages
// that are none of its methods.
absl::StatusOr<Units> ReadUnits(RecordingReader& reader);

}  // namespace waystar::record
