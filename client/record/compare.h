#pragma once

#include <cstdint>
#include <string>

#include "google/rpc/status.pb.h"

namespace waystar::record {

// The result of a call, of the recording or of the replay.
struct CallResult {
  // A message of the method's output type, if the status is OK.
  std::string response;
  google::rpc::Status status;
  // How many revisions the answer is after the first that the recording knows of its map. It is -1 where
  // nothing is known.
  std::int64_t relative_revision = -1;
};

// Returns what is different, in a few words such as "cost: 14 -> 16", or nothing if the results are alike.
//
// Refusals are alike if their code, reason and field are. Costs may differ by a millionth. How long something
// took, what memory it takes, when a map was made, and which numbers its revisions have do not matter.
std::string Difference(const std::string& method, const CallResult& before, const CallResult& now);

}  // namespace waystar::record
