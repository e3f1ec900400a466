// A server's maps and what serves requests about them, without the RPC library: the functions that check,
// convert and answer requests, called as the handlers call them.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "requests.pb.h"
#include "server/core/store/map_store.h"
#include "server/service/admission/executor.h"
#include "server/service/call/call_context.h"
#include "server/service/handlers/query/answer_query.h"
#include "server/service/handlers/query/field_answers.h"

namespace waystar::fuzz {

// Holds small maps: "squares" and "next" of one world with terrains, obstacles, profiles and portals,
// "hexes", and the waypoint graph "graph".
//
// Thread safety: none.
class ServedRequests {
 public:
  ServedRequests();

  // INVALID_ARGUMENT for one that asks nothing.
  absl::Status Serve(const Request& request);

 private:
  absl::Status Find(const v1::FindPathRequest& request);
  absl::Status FindMany(const v1::FindPathsRequest& request);
  absl::Status Trace(const v1::TraceSearchRequest& request);
  absl::Status Watch(const v1::WatchPathRequest& request);
  absl::Status Create(const v1::CreateMapRequest& request);
  absl::Status Update(const v1::UpdateObstaclesRequest& request);

  core::MapStore store_;
  const rpc::FieldAnswers fields_;
  const rpc::Caller caller_ = rpc::Caller::Anyone();
  rpc::CallContext context_;
};

}  // namespace waystar::fuzz
