// What a handler may know of the call it serves, beside the request.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"
#include "grpcpp/server_context.h"
#include "server/core/query/find_paths.h"
#include "server/core/search/query.h"
#include "server/rpc/access/caller.h"
#include "server/rpc/admission/executor.h"
#include "server/rpc/admission/workbench.h"
#include "server/rpc/call/written_message.h"
#include "server/runtime/fair_queue.h"

namespace waystar::rpc {

struct CallContext {
  // Nobody else uses it while the handler runs.
  Workbench& bench;
  // Maps that this one may not read are not there for the call.
  const Caller& caller;
  // Deadline and cancellation of the call.
  core::Budget budget;
  // How long the call waited for a worker.
  std::chrono::nanoseconds queued{0};
  // When that was over.
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  // Expansions that the call may spend where it runs; with more it has to begin again elsewhere.
  std::uint64_t max_expansions_here = std::numeric_limits<std::uint64_t>::max();
  // Lets a handler have several workers search; null where it should not.
  core::PathCrew* crew = nullptr;
  // The RPC library's side of the call: metadata and peer. Null where there is none.
  const grpc::CallbackServerContext* rpc = nullptr;
  // Where the handler may write its response down; then that is what is sent, and of the message only what
  // observers of queries look at has to be filled. Null where the message itself is wanted.
  WrittenMessage* written = nullptr;
  // Set by a handler that was stopped by max_expansions_here: its answer is not to be used.
  bool needs_larger_lane = false;

  // The budget of a search that may spend so many expansions by what its request says.
  core::Budget BudgetFor(std::uint64_t requested) const {
    core::Budget own = budget;
    own.max_expansions = std::min(requested, max_expansions_here);
    return own;
  }

  // The same for this response; null if it is not the call's, but of one who only lends the context.
  WrittenMessage* WrittenFor(const google::protobuf::Message& response) const {
    return written != nullptr && written->StandsFor(response) ? written : nullptr;
  }
};

// The call's deadline on the clock of core::Budget; its max if there is none.
std::chrono::steady_clock::time_point DeadlineOf(const grpc::CallbackServerContext& context);

// Whose turn a call waits for. A client is known by its token's name, or else by its connection.
runtime::Flow FlowOf(const Caller& caller, const grpc::CallbackServerContext& context, absl::string_view map);

}  // namespace waystar::rpc
