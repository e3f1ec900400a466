#pragma once

#include <cstdint>
#include <string>

#include "google/rpc/status.pb.h"

namespace waystar::record {

// How a call ended, then or now.
struct CallResult {
  // A message of the method's output type, if the status is OK.
  std::string response;
  google::rpc::Status status;
  // How many revisions after the first that the recording knows of its map; -1 where nothing is known.
  std::int64_t relative_revision = -1;
};

// What is different, in a few words: "cost: 14 -> 16". Empty if nothing is.
//
// Refusals are alike if their code, reason and field are. Costs may differ by a millionth. How long something
// took and what memory it takes, when a map was made, and which numbers its revisions have do not matter.
std::string Difference(const std::string& method, const CallResult& before, const CallResult& now);

}  // namespace waystar::record
