// Context of the call that a handler serves, apart from the request.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <type_traits>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"
#include "grpcpp/support/byte_buffer.h"
#include "server/core/edit/edit_work.h"
#include "server/core/map/map_version.h"
#include "server/core/query/find_paths.h"
#include "server/core/search/interruption.h"
#include "server/core/search/query.h"
#include "server/runtime/fair_queue.h"
#include "server/service/admission/executor.h"
#include "server/service/auth/call_head.h"
#include "server/service/auth/caller.h"

namespace waystar::rpc {

// Message that is written part by part, in any order: concatenated protobuf messages parse as their merge. It
// avoids messages in memory for fields that are slow to write that way.
//
// Parts are stored in the arena of the message that this stands for, and live as long.
//
// Thread safety: one thread at a time; several at once for different messages in one arena.
class WrittenMessage {
 public:
  // REQUIRES: `message` is in an arena.
  explicit WrittenMessage(const google::protobuf::Message& message) : message_(message) {}

  // Returns true if it stands for this very message.
  bool StandsFor(const google::protobuf::Message& message) const { return &message == &message_; }

  // Adds the fields that `write` writes at `out`, at most `most_bytes` bytes. It returns their end.
  void Add(std::size_t most_bytes, absl::FunctionRef<std::uint8_t*(std::uint8_t* out)> write);
  // Adds the current fields of a message of that type.
  void AddFieldsOf(const google::protobuf::Message& message);
  // Adds a field that is a message, in the same arena.
  void AddField(int number, const WrittenMessage& value);

  // Returns true if nothing was added.
  bool empty() const { return parts_.empty(); }
  std::size_t size() const { return size_; }
  // Removes everything. It stands for the same message.
  void Clear();
  grpc::ByteBuffer ToBytes() const;

 private:
  const google::protobuf::Message& message_;
  // Sufficient for an answer in a batch.
  absl::InlinedVector<absl::string_view, 4> parts_;
  std::size_t size_ = 0;
};

struct CallContext {
  // Used by this handler only, while it runs.
  Workbench& bench;
  // Maps that the caller may not read do not exist for the call.
  const Caller& caller;
  // Deadline and cancellation of the call, and its upkeep.
  core::Budget budget;
  // Time that the call waited for a worker.
  std::chrono::nanoseconds queued{0};
  // When that wait ended.
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  // Set on a server of a fleet that has not heard from it for FleetNews::kQuietTime.
  std::optional<std::chrono::nanoseconds> staleness;
  // Expansions that the call may spend on its lane; if it needs more, it restarts on the next lane.
  std::uint64_t max_expansions_here = std::numeric_limits<std::uint64_t>::max();
  // Lets a handler search with several workers; null if it should not.
  core::PathCrew* crew = nullptr;
  // Metadata and peer of the call, if there is one.
  std::optional<CallHead> head;
  // If not null, the handler may write its response here as bytes, which are then sent; the message itself
  // only needs the fields that query observers read.
  WrittenMessage* written = nullptr;
  // Set by a handler that needs more expansions.
  bool needs_more_expansions = false;
  // Version that the handler needs and the map does not have yet, for calls that can wait for it. Other calls
  // return the handler's error.
  std::optional<core::MapVersion> awaited_version;
  // MAP_LOADING for a map that a portal leads to and that is not in memory; the answer must then be
  // discarded.
  absl::Status missing_map;

  // Returns true if the lane was too small for the call; the answer must then be discarded.
  bool NeedsLargerLane() const {
    return needs_more_expansions || (budget.upkeep != nullptr && budget.upkeep->is_refused());
  }

  // Returns the budget of a search whose request allows `requested` expansions.
  core::Budget BudgetFor(std::uint64_t requested) const {
    core::Budget own = budget;
    own.max_expansions = std::min(requested, max_expansions_here);
    return own;
  }

  // Returns `written` if it stands for this response, else null: others may use the context for their own.
  WrittenMessage* WrittenFor(const google::protobuf::Message& response) const {
    return written != nullptr && written->StandsFor(response) ? written : nullptr;
  }
};

// Returns the flow in which a call waits. A client is identified by its token's name, or else by its
// connection.
runtime::Flow FlowOf(const Caller& caller, const CallHead& head, absl::string_view map);

// Returns the holder of a call's places: the name of its token or, if no token is required, its network.
std::uint64_t HolderOf(const Caller& caller, const CallHead& head);

// Returns the result of `query`, an absl::Status or a StatusOr. If it runs out of memory, resets the bench,
// which may be in any state, and returns RESOURCE_EXHAUSTED / MAPS_MEMORY_FULL.
//
// Use it only for work without side effects: queries, other reads of maps, and the preparation of a new map
// or an update. The store itself handles updates that run out of memory.
template <typename Query>
std::invoke_result_t<Query> RunWithinMemory(Workbench& bench, Query query) {
  try {
    return query();
  } catch (const std::bad_alloc&) {
    bench.Renew();
    return core::SystemMemoryFull();
  }
}

}  // namespace waystar::rpc
