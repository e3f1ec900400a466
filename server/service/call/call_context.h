// Context of the call that a handler serves, beside the request.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"
#include "grpcpp/server_context.h"
#include "server/core/map/map_version.h"
#include "server/core/query/find_paths.h"
#include "server/core/search/query.h"
#include "server/core/search/upkeep.h"
#include "server/runtime/fair_queue.h"
#include "server/service/admission/executor.h"
#include "server/service/admission/workbench.h"
#include "server/service/auth/caller.h"
#include "server/service/call/written_message.h"

namespace waystar::rpc {

struct CallContext {
  // Nobody else uses it while the handler runs.
  Workbench& bench;
  // To the call there are no maps that this caller may not read.
  const Caller& caller;
  // Deadline and cancellation of the call, and its upkeep.
  core::Budget budget;
  // How long the call waited for a worker.
  std::chrono::nanoseconds queued{0};
  // When the wait was over.
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  // Expansions that the call may spend on its lane; if it needs more it begins again on the next.
  std::uint64_t max_expansions_here = std::numeric_limits<std::uint64_t>::max();
  // Lets a handler have several workers search; null where it should not.
  core::PathCrew* crew = nullptr;
  // The RPC library's side of the call: metadata and peer. Null where there is none.
  const grpc::CallbackServerContext* rpc = nullptr;
  // Where the handler may write its response as bytes: those are sent then, and of the message only what
  // observers of queries read has to be filled. Null where the message itself is wanted.
  WrittenMessage* written = nullptr;
  // A handler that needs more expansions sets it.
  bool needs_more_expansions = false;
  // The version that a handler needs and the map does not have yet. It is for calls that can wait for it;
  // the error that the handler returns is for all others.
  std::optional<core::MapVersion> awaited_version;
  // MAP_LOADING of a map that a portal leads to and that is not in memory: then the answer is not to be used.
  absl::Status missing_map;

  // Returns whether the lane was too small for the call: then its answer is not to be used.
  bool NeedsLargerLane() const {
    return needs_more_expansions || (budget.upkeep != nullptr && budget.upkeep->is_refused());
  }

  // Returns the budget of a search whose request allows so many expansions.
  core::Budget BudgetFor(std::uint64_t requested) const {
    core::Budget own = budget;
    own.max_expansions = std::min(requested, max_expansions_here);
    return own;
  }

  // Returns `written` if it stands for this response, else null: others may borrow the context for theirs.
  WrittenMessage* WrittenFor(const google::protobuf::Message& response) const {
    return written != nullptr && written->StandsFor(response) ? written : nullptr;
  }
};

// Returns the call's deadline on the clock of core::Budget; its max if there is none.
std::chrono::steady_clock::time_point DeadlineOf(const grpc::CallbackServerContext& context);

// Returns the flow in which a call waits. A client is known by its token's name, or else by its connection.
runtime::Flow FlowOf(const Caller& caller, const grpc::CallbackServerContext& context, absl::string_view map);

// Returns the flow in which an import waits on Lane::kImports. A client is known by HolderOf there: each
// import of a program may have a connection of its own.
runtime::Flow ImportFlowOf(const Caller& caller, const grpc::CallbackServerContext& context);

// Returns who holds the places of a call: the name of its token or, where no token is asked for, its network.
std::uint64_t HolderOf(const Caller& caller, const grpc::CallbackServerContext& context);

}  // namespace waystar::rpc
