// FollowAgents: one stream for all agents of a client that walk while maps change.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "grpcpp/server_context.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/watch/map_subscriptions.h"
#include "server/runtime/worker_pool.h"
#include "server/service/admission/call_slots.h"
#include "server/service/admission/server_context.h"
#include "server/service/auth/caller.h"
#include "server/service/call/streaming_call.h"
#include "server/service/handlers/watch/path_watch.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// Reads one message of changes at a time, on a worker. Each agent is a PathWatch, for which the scheduler
// searches: at once if its path may be blocked, and at most once in `cheaper_every` if another may be
// cheaper. The newest state of each agent waits until the stream writes; messages are at least
// `at_most_every` apart, so that changes that concern many agents make few messages.
//
// The scheduler hands a state to the stream before it ends the search. So progress that is read under the
// stream's lock covers only states that were sent, or wait to be sent.
//
// The rules of StreamingCall hold.
class AgentStream final : public ReadingWritingCall {
 public:
  // The referenced objects must outlive the call.
  AgentStream(const ServerContext& server, PathWatchScheduler& watches, grpc::CallbackServerContext& rpc)
      : ReadingWritingCall(Kind::kOpenEnded, server, rpc, server.statistics.Of<v1::FollowAgentsRequest>()),
        watches_(watches) {}

 private:
  using Clock = std::chrono::steady_clock;

  // An agent, until it gets another query.
  class Agent;
  using AgentPtr = std::shared_ptr<Agent>;

  // An agent by its id. Guarded by the lock.
  struct Followed {
    // Null once the agent has ended.
    AgentPtr agent;
    // Number of the newest change.
    std::uint64_t number = 0;
    // Where the agent is, if it has moved.
    std::optional<v1::Location> at;
    // Bytes of the query and of the answer that is kept.
    std::size_t bytes = 0;
    // The unsent state, as bytes of a FollowAgentsResponse. Empty and `is_unsent` if it was dropped.
    std::string state;
    bool is_unsent = false;
  };
  // The latest snapshot of each map that a message names.
  using Snapshots = absl::flat_hash_map<std::string, core::PinnedSnapshot>;

  absl::Status Admit() override;
  void Advance() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnReadDone(bool ok) override;
  void RunJob(int worker) override;

  // Applies the last message read. An error is one of the stream.
  absl::Status Take();
  void Apply(const v1::AgentChange& change, const Caller& caller, Snapshots& snapshots);
  // Follows an agent by a new query, with the path that it has, if that is not null; an error ends the agent.
  void Put(std::uint64_t id, std::uint64_t number, v1::FindPathRequest query, const v1::HeldPath* held,
           const Caller& caller);
  absl::StatusOr<AgentPtr> MakeAgent(std::uint64_t id, std::uint64_t number, v1::FindPathRequest query,
                                     const v1::HeldPath* held, const Caller& caller);
  void Move(const v1::AgentChange& change, const Caller& caller, Snapshots& snapshots);
  void SendTo(const v1::AgentChange& change, const Caller& caller);
  void Remove(std::uint64_t id);
  // Ends the agents whose maps the client may not read any more.
  void EndForbidden(const Caller& caller);

  // Takes the newest state of an agent, and the bytes of the answer that is kept, unless the agent has
  // another query by then.
  void TakeState(const Agent& agent, v1::AgentState state, std::size_t kept_bytes);
  void EndAgent(const Agent& agent, const absl::Status& why);
  void EndById(std::uint64_t id, std::uint64_t number, const absl::Status& why);
  // Lets go of an agent, if there is one, and keeps its end.
  void KeepEnd(std::uint64_t id, Followed& followed, std::uint64_t number, const absl::Status& why)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Keeps a state until it is written, or drops it for want of room.
  void Keep(std::uint64_t id, Followed& followed, v1::AgentState state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Begins to follow an agent in the place of the one with its id, if any. Returns the errors of
  // CallSlots::Acquire and of CallMemory.
  absl::Status Follow(const AgentPtr& agent, Followed& followed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Counts the bytes of an agent. Returns the error of CallMemory if there is no room for more.
  absl::Status Count(std::size_t bytes, Followed& followed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Drops the unsent states of followed agents, which can be made again.
  void DropStates() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the entry of an agent that is followed, or null; given an agent, unless it has another query by
  // now.
  Followed* FindFollowed(std::uint64_t id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Followed* FindFollowed(const Agent& agent) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the entry for an id, which may be new.
  Followed& EntryOf(std::uint64_t id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropState(Followed& followed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Erase(absl::flat_hash_map<std::uint64_t, Followed>::iterator it) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Lets go of the agent's watch and of its slot.
  void Release(Followed& followed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void Cancel(Agent& agent);

  void WriteDue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Adds unsent states to a message. Returns true if none is left.
  bool AddStates(std::string& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddProgress(Clock::time_point now, std::string& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  PathWatchScheduler& watches_;
  // Set once it is admitted.
  std::string client_;
  runtime::Flow flow_;
  std::uint64_t holder_ = 0;

  absl::flat_hash_map<std::uint64_t, Followed> agents_ ABSL_GUARDED_BY(mutex_);
  // Ids of agents with unsent states, and of some without.
  std::deque<std::uint64_t> unsent_ ABSL_GUARDED_BY(mutex_);
  // Number of entries in agents_ without an agent, which only have its unsent end.
  std::size_t ended_ ABSL_GUARDED_BY(mutex_) = 0;
  // Bytes of the unsent states, and of all agents; both are counted as memory of the call.
  std::size_t unsent_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // False if DropStates would drop nothing.
  bool may_drop_ ABSL_GUARDED_BY(mutex_) = false;
  CallMemory::Share unsent_memory_ ABSL_GUARDED_BY(mutex_){server_.memory, rpc_};
  std::size_t agents_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  CallMemory::Share agents_memory_ ABSL_GUARDED_BY(mutex_){server_.memory, rpc_};
  // True once the client has said that it sends no more.
  bool is_half_closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::chrono::nanoseconds at_most_every_ ABSL_GUARDED_BY(mutex_) = std::chrono::milliseconds(50);
  std::chrono::nanoseconds cheaper_every_ ABSL_GUARDED_BY(mutex_) = std::chrono::seconds(1);
  // Only for the job.
  double off_path_ = core::kOffPath;
  // When the next message may be written, and when progress is looked up next.
  Clock::time_point next_write_ ABSL_GUARDED_BY(mutex_);
  Clock::time_point next_look_ ABSL_GUARDED_BY(mutex_);
  // The progress of a map that was sent last, and when.
  struct Told {
    core::MapSubscriptions::Standing standing;
    Clock::time_point time;
  };
  absl::flat_hash_map<std::uint64_t, Told> told_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::rpc
