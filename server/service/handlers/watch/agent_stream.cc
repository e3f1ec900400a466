#include "server/service/handlers/watch/agent_stream.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/arena.h"
#include "grpcpp/support/slice.h"
#include "server/base/error.h"
#include "server/core/query/route_query.h"
#include "server/service/auth/check_access.h"
#include "server/service/call/call_context.h"
#include "server/service/call/request_parser.h"
#include "server/service/call/status.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_query.h"
#include "server/service/convert/hex_coordinates.h"
#include "server/service/handlers/query/answer_query.h"

namespace waystar::rpc {
namespace {

constexpr int kMaxChanges = 10'000;
constexpr std::size_t kMaxUnsentBytes = std::size_t{64} << 20;
constexpr std::chrono::seconds kMostAtMostEvery{10};
constexpr std::chrono::seconds kMostCheaperEvery{60};
// Progress is looked up no more often than this.
constexpr std::chrono::milliseconds kLeastPause{50};
// A map's progress is repeated after that time.
constexpr std::chrono::seconds kProgressEvery{1};

// Messages have about this size, or that of one state.
constexpr std::size_t kMessageBytes = std::size_t{256} << 10;

// Returns the bytes that a share counts: a large one has room for the next message.
std::size_t WithRoom(std::size_t bytes) { return bytes < 2 * kMessageBytes ? bytes : bytes + kMessageBytes; }

// Sets `duration` to that of a message, if it is given.
absl::Status SetDuration(bool is_given, const google::protobuf::Duration& given, absl::string_view field,
                         std::chrono::seconds most, std::chrono::nanoseconds& duration) {
  if (!is_given) {
    return absl::OkStatus();
  }
  const bool is_near = given.seconds() >= 0 && given.seconds() <= most.count();
  duration = is_near ? ToNanoseconds(given) : std::chrono::nanoseconds(-1);
  return duration >= std::chrono::nanoseconds(0) && duration <= most
             ? absl::OkStatus()
             : MakeError(ErrorReason::kBadValue, field,
                         absl::StrCat(field, " must be 0 to ", most.count(), " s"));
}

// Returns a path that may be adopted; nullopt for others.
std::optional<core::HeldPath> ToHeldPath(const v1::HeldPath& held, const core::MapSnapshot& snapshot) {
  constexpr int kMostPlaces = 1 << 16;
  const v1::Path& path = held.path();
  core::HeldPath converted{
      .version = {.epoch = held.version().epoch(), .revision = held.version().revision()},
      .cost = held.cost()};
  const int places =
      std::max({path.points_size(), path.directions_size(), path.nodes_size(), path.positions_size()});
  if (path.crossings_size() > 0 || places > kMostPlaces) {
    return std::nullopt;
  }
  if (snapshot.as_graph() != nullptr) {
    if (path.start().has_position() || path.end().has_position()) {
      return std::nullopt;
    }
    converted.nodes.assign(path.nodes().begin(), path.nodes().end());
  } else if (snapshot.as_mesh() != nullptr) {
    converted.corners = Converted(path.positions(), ToWorldPoint);
  } else {
    absl::StatusOr<PathToValidate> points = ToPathToValidate(path, HexCoordinates(snapshot), {});
    if (!points.ok()) {
      return std::nullopt;
    }
    converted.points = std::move(points->points);
    converted.is_smoothed = path.form() == v1::PATH_FORM_SMOOTHED;
  }
  return converted;
}

// Returns the query of an agent that has come to another map.
v1::FindPathRequest OnMap(const v1::AgentChange& change, v1::FindPathRequest query) {
  const std::string goal_map = query.goal_map().empty() ? query.map() : query.goal_map();
  query.set_map(change.map());
  query.set_goal_map(goal_map == change.map() ? "" : goal_map);
  *query.mutable_start() = change.at();
  // It is about the map before.
  query.clear_view();
  return query;
}

absl::Status NoSuchAgent() {
  return MakeError(ErrorReason::kAgentNotFound, "agent", "the stream does not follow this agent");
}

}  // namespace

class AgentStream::Agent final : public PathWatch {
 public:
  Agent(std::shared_ptr<AgentStream> stream, std::uint64_t agent_id, std::uint64_t change_number)
      : id(agent_id), number(change_number), stream_(std::move(stream)) {}

  void Send(v1::AgentState state, std::size_t kept_bytes) override {
    if (held) {
      kept_bytes += held->bytes();
    }
    // A change of the query has a number too.
    state.set_number(std::max(number, searched_move()));
    if (state.has_answer() && searched_move() > 0) {
      // That of the query is not where the agent is.
      state.mutable_answer()->mutable_path()->clear_asked_start();
    }
    stream_->TakeState(*this, std::move(state), kept_bytes);
  }
  void End(const absl::Status& status) override { stream_->EndAgent(*this, status); }
  Caller GetCaller() override { return stream_->caller_.Get(); }
  void FillName(v1::FollowedAgent& out) const override {
    out.set_agent(id);
    out.set_client(stream_->client_);
  }

  const std::uint64_t id;
  const std::uint64_t number;

 private:
  // The stream lets go of its agents when it ends.
  const std::shared_ptr<AgentStream> stream_;
};

absl::Status AgentStream::Admit() {
  const Caller caller = caller_.Get();
  client_ = caller.is_anyone() ? CallHead(rpc_).Peer() : std::string(caller.name());
  flow_ = FlowOf(caller, rpc_, "");
  holder_ = HolderOf(caller, rpc_);
  const auto require = [this](const Caller& renewed) -> absl::Status {
    WAYSTAR_RETURN_IF_ERROR(CheckStreamAccess<v1::FollowAgentsRequest>(renewed));
    EndForbidden(renewed);
    return absl::OkStatus();
  };
  WAYSTAR_RETURN_IF_ERROR(caller_.Require(require));
  return TakeSlot(server_.streams);
}

void AgentStream::OnReadDone(bool ok) {
  {
    const Change change(*this);
    if (!EndRead(ok)) {
      return;
    }
    if (!ok) {
      is_half_closed_ = true;
      return;
    }
    BeginJob();
  }
  // A stream has one job at a time, and would lose all agents if that were refused.
  SubmitOwedJob(Lane::kSmall, flow_);
}

void AgentStream::RunJob(int worker) {
  const absl::Status status = RunWithinMemory(server_.executor.bench(worker), [this] { return Take(); });
  if (!status.ok()) {
    End(status);
  }
}

absl::Status AgentStream::Take() {
  CallMemory::Share memory(server_.memory, rpc_);
  google::protobuf::Arena arena;
  auto& message = *v1::FollowAgentsRequest::default_instance().New(&arena);
  WAYSTAR_RETURN_IF_ERROR(ParseRequest(this->message(), message, memory));
  if (message.changes_size() > kMaxChanges) {
    return MakeError(ErrorReason::kTooManyItems, "changes",
                     absl::StrCat("a message has at most ", kMaxChanges, " changes"));
  }
  if (message.has_off_path()) {
    if (!(message.off_path() > 0.0) || !std::isfinite(message.off_path())) {
      return MakeError(ErrorReason::kBadValue, "off_path", "off_path must be finite and more than 0");
    }
    off_path_ = message.off_path();
  }
  {
    const Change change(*this);
    WAYSTAR_RETURN_IF_ERROR(SetDuration(message.has_at_most_every(), message.at_most_every(), "at_most_every",
                                        kMostAtMostEvery, at_most_every_));
    WAYSTAR_RETURN_IF_ERROR(SetDuration(message.has_cheaper_every(), message.cheaper_every(), "cheaper_every",
                                        kMostCheaperEvery, cheaper_every_));
  }
  const Caller caller = caller_.Get();
  Snapshots snapshots;
  for (int i = 0; i < message.changes_size(); ++i) {
    const v1::AgentChange& change = message.changes(i);
    if (const absl::Status status = CheckPartAccess<v1::FollowAgentsRequest>(caller, change); !status.ok()) {
      EndById(change.agent(), change.number(), status);
      continue;
    }
    if (change.change_case() == v1::AgentChange::CHANGE_NOT_SET) {
      return MissingField(absl::StrCat("changes[", i, "].change"));
    }
    Apply(change, caller, snapshots);
  }
  return absl::OkStatus();
}

void AgentStream::Apply(const v1::AgentChange& change, const Caller& caller, Snapshots& snapshots) {
  switch (change.change_case()) {
    case v1::AgentChange::kPut:
      Put(change.agent(), change.number(), change.put(), change.has_held() ? &change.held() : nullptr,
          caller);
      break;
    case v1::AgentChange::kAt:
      Move(change, caller, snapshots);
      break;
    case v1::AgentChange::kGoal:
      SendTo(change, caller);
      break;
    case v1::AgentChange::kRemove:
      Remove(change.agent());
      break;
    case v1::AgentChange::CHANGE_NOT_SET:
      break;
  }
}

void AgentStream::Put(std::uint64_t id, std::uint64_t number, v1::FindPathRequest query,
                      const v1::HeldPath* held, const Caller& caller) {
  const absl::StatusOr<AgentPtr> agent = MakeAgent(id, number, std::move(query), held, caller);
  if (!agent.ok()) {
    EndById(id, number, agent.status());
    return;
  }
  {
    const Change change(*this);
    if (end().has_value()) {
      return;
    }
    Followed& followed = EntryOf(id);
    if (const absl::Status status = Follow(*agent, followed); !status.ok()) {
      KeepEnd(id, followed, number, status);
      return;
    }
  }
  watches_.Begin(*agent);
  // The token may have changed since.
  if (const absl::Status status = CheckPartAccess<v1::FollowAgentsRequest>(caller_.Get(), (*agent)->request);
      !status.ok()) {
    EndAgent(**agent, status);
  }
}

absl::StatusOr<AgentStream::AgentPtr> AgentStream::MakeAgent(std::uint64_t id, std::uint64_t number,
                                                             v1::FindPathRequest query,
                                                             const v1::HeldPath* held, const Caller& caller) {
  WAYSTAR_RETURN_IF_ERROR(CheckPartAccess<v1::FollowAgentsRequest>(caller, query));
  auto agent = std::make_shared<Agent>(std::static_pointer_cast<AgentStream>(shared_from_this()), id, number);
  agent->request = std::move(query);
  WAYSTAR_ASSIGN_OR_RETURN(agent->query, ToWatchedQuery(watches_.store(), agent->request));
  if (held != nullptr) {
    WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, watches_.store().Pin(agent->request.map()));
    if (held->version().epoch() != snapshot->epoch) {
      return MakeError(ErrorReason::kMapReplaced, "held.version.epoch", "the map was replaced");
    }
    agent->StartAt(core::MoveOn(*snapshot, agent->query.start, off_path_, number));
    agent->held = ToHeldPath(*held, *snapshot);
    if (held->version().revision() >
        std::max(snapshot->revision, agent->request.view().least_version().revision())) {
      *agent->request.mutable_view()->mutable_least_version() = held->version();
    }
  }
  return agent;
}

void AgentStream::Move(const v1::AgentChange& change, const Caller& caller, Snapshots& snapshots) {
  AgentPtr agent;
  {
    MutexLock lock(mutex_);
    if (Followed* const followed = FindFollowed(change.agent())) {
      agent = followed->agent;
      followed->number = change.number();
      followed->at = change.at();
    }
  }
  if (agent == nullptr) {
    EndById(change.agent(), change.number(), NoSuchAgent());
    return;
  }
  if (!change.map().empty() && change.map() != agent->request.map()) {
    Put(change.agent(), change.number(), OnMap(change, agent->request), nullptr, caller);
    return;
  }
  core::PinnedSnapshot& snapshot = snapshots[agent->request.map()];
  if (snapshot == nullptr) {
    absl::StatusOr<core::PinnedSnapshot> latest = watches_.store().Pin(agent->request.map());
    if (!latest.ok()) {
      EndAgent(*agent, latest.status());
      return;
    }
    snapshot = *std::move(latest);
  }
  watches_.MoveTo(agent, core::MoveOn(*snapshot, ToLocation(change.at(), HexCoordinates(*snapshot)),
                                      off_path_, change.number()));
}

void AgentStream::SendTo(const v1::AgentChange& change, const Caller& caller) {
  std::optional<v1::FindPathRequest> query;
  {
    MutexLock lock(mutex_);
    if (const Followed* const followed = FindFollowed(change.agent())) {
      query = followed->agent->request;
      if (followed->at) {
        *query->mutable_start() = *followed->at;
      }
    }
  }
  if (!query) {
    EndById(change.agent(), change.number(), NoSuchAgent());
    return;
  }
  query->clear_goals();
  *query->add_goals() = change.goal();
  Put(change.agent(), change.number(), *std::move(query), nullptr, caller);
}

void AgentStream::Remove(std::uint64_t id) {
  const Change change(*this);
  if (const auto it = agents_.find(id); it != agents_.end()) {
    Release(it->second);
    Erase(it);
  }
}

AgentStream::Followed* AgentStream::FindFollowed(std::uint64_t id) {
  const auto it = agents_.find(id);
  return it != agents_.end() && it->second.agent != nullptr ? &it->second : nullptr;
}

AgentStream::Followed* AgentStream::FindFollowed(const Agent& agent) {
  Followed* const followed = FindFollowed(agent.id);
  return followed != nullptr && followed->agent.get() == &agent ? followed : nullptr;
}

AgentStream::Followed& AgentStream::EntryOf(std::uint64_t id) {
  const auto [it, is_new] = agents_.try_emplace(id);
  ended_ += is_new ? 1 : 0;
  return it->second;
}

absl::Status AgentStream::Follow(const AgentPtr& agent, Followed& followed) {
  WAYSTAR_RETURN_IF_ERROR(
      Count(agent->request.ByteSizeLong() + (agent->held ? agent->held->bytes() : 0), followed));
  if (followed.agent == nullptr) {
    WAYSTAR_RETURN_IF_ERROR(server_.agents.Acquire(holder_));
    --ended_;
  } else {
    Cancel(*followed.agent);
  }
  followed.agent = agent;
  followed.number = agent->number;
  followed.at.reset();
  followed.is_unsent = false;
  DropState(followed);
  return absl::OkStatus();
}

absl::Status AgentStream::Count(std::size_t bytes, Followed& followed) {
  const std::size_t all = agents_bytes_ + bytes - followed.bytes;
  const absl::Status status = agents_memory_.Resize(WithRoom(all));
  if (!status.ok() && bytes > followed.bytes) {
    DropStates();
    WAYSTAR_RETURN_IF_ERROR(agents_memory_.Resize(WithRoom(all)));
  }
  agents_bytes_ = all;
  followed.bytes = bytes;
  return absl::OkStatus();
}

void AgentStream::DropStates() {
  if (!std::exchange(may_drop_, false)) {
    return;
  }
  for (const std::uint64_t id : unsent_) {
    if (Followed* const followed = FindFollowed(id)) {
      DropState(*followed);
    }
  }
  static_cast<void>(unsent_memory_.Resize(unsent_bytes_));
}

void AgentStream::DropState(Followed& followed) { unsent_bytes_ -= std::exchange(followed.state, {}).size(); }

void AgentStream::Erase(absl::flat_hash_map<std::uint64_t, Followed>::iterator it) {
  DropState(it->second);
  --ended_;
  agents_.erase(it);
}

void AgentStream::EndForbidden(const Caller& caller) {
  std::vector<AgentPtr> agents;
  {
    MutexLock lock(mutex_);
    for (const auto& [id, followed] : agents_) {
      if (followed.agent != nullptr) {
        agents.push_back(followed.agent);
      }
    }
  }
  for (const AgentPtr& agent : agents) {
    const absl::Status status = CheckPartAccess<v1::FollowAgentsRequest>(caller, agent->request);
    if (status.ok()) {
      watches_.VisitAgain(agent);
    } else {
      EndAgent(*agent, status);
    }
  }
}

void AgentStream::TakeState(const Agent& agent, v1::AgentState state, std::size_t kept_bytes) {
  const Change change(*this);
  Followed* const followed = FindFollowed(agent);
  if (followed == nullptr) {
    return;
  }
  const absl::Status status = Count(agent.request.ByteSizeLong() + kept_bytes, *followed);
  if (status.ok()) {
    Keep(agent.id, *followed, std::move(state));
  } else {
    KeepEnd(agent.id, *followed, followed->number, status);
  }
}

void AgentStream::EndAgent(const Agent& agent, const absl::Status& why) {
  const Change change(*this);
  if (Followed* const followed = FindFollowed(agent)) {
    KeepEnd(agent.id, *followed, followed->number, why);
  }
}

void AgentStream::EndById(std::uint64_t id, std::uint64_t number, const absl::Status& why) {
  const Change change(*this);
  KeepEnd(id, EntryOf(id), number, why);
}

void AgentStream::KeepEnd(std::uint64_t id, Followed& followed, std::uint64_t number,
                          const absl::Status& why) {
  Release(followed);
  static_cast<void>(Count(0, followed));
  v1::AgentState state;
  state.set_number(number);
  *state.mutable_end() = ToStatusMessage(why);
  Keep(id, followed, std::move(state));
}

void AgentStream::Keep(std::uint64_t id, Followed& followed, v1::AgentState state) {
  const bool is_end = state.has_end();
  v1::FollowAgentsResponse message;
  state.set_agent(id);
  message.add_states()->Swap(&state);
  std::string bytes = message.SerializeAsString();
  unsent_bytes_ += bytes.size() - followed.state.size();
  followed.state = std::move(bytes);
  // An end is short and cannot be made again. One state always has room.
  const bool is_kept =
      is_end || unsent_bytes_ == followed.state.size() ||
      (unsent_bytes_ <= kMaxUnsentBytes && unsent_memory_.Resize(WithRoom(unsent_bytes_)).ok());
  if (!is_kept) {
    DropState(followed);
  }
  may_drop_ = may_drop_ || (is_kept && !is_end);
  if (!std::exchange(followed.is_unsent, true)) {
    unsent_.push_back(id);
  }
  if (unsent_.size() > 2 * agents_.size() + kMaxChanges) {
    // Agents that were put again are in it more than once.
    unsent_.clear();
    for (const auto& [unsent, entry] : agents_) {
      if (entry.is_unsent) {
        unsent_.push_back(unsent);
      }
    }
  }
}

void AgentStream::Release(Followed& followed) {
  if (followed.agent != nullptr) {
    Cancel(*followed.agent);
    server_.agents.Release(holder_);
    followed.agent.reset();
    static_cast<void>(Count(0, followed));
    ++ended_;
  }
}

void AgentStream::Cancel(Agent& agent) {
  agent.cancelled.store(true, std::memory_order_relaxed);
  watches_.Remove(agent);
}

void AgentStream::Advance() {
  if (end().has_value()) {
    for (auto& [id, followed] : agents_) {
      Release(followed);
    }
    agents_.clear();
    unsent_.clear();
    unsent_memory_.Release();
    agents_memory_.Release();
    return;
  }
  // A client that sends changes of agents that are not followed must read that they are not.
  if (!has_job() && !is_half_closed_ && ended_ < kMaxChanges) {
    Read();
  }
  if (!is_writing()) {
    WriteDue();
  }
  if (is_half_closed_ && !has_job() && !is_writing() && agents_.empty()) {
    SetEnd(absl::OkStatus());
  }
}

void AgentStream::WriteDue() {
  if (agents_.empty()) {
    return;
  }
  const Clock::time_point now = Clock::now();
  next_write_ = std::min(next_write_, now + at_most_every_);
  if (now < next_write_) {
    WakeAfter(next_write_ - now);
    return;
  }
  std::string message;
  const bool is_last = AddStates(message);
  // During a job, some agents of its message may not have begun yet.
  if (is_last && now >= next_look_ && !has_job()) {
    AddProgress(now, message);
    next_look_ = now + std::max<std::chrono::nanoseconds>(at_most_every_, kLeastPause);
  }
  if (message.empty()) {
    // The end of a job calls Advance.
    if (!has_job()) {
      WakeAfter(next_look_ - now);
    }
    return;
  }
  if (is_last) {
    next_write_ = now + at_most_every_;
  }
  const grpc::Slice slice(message);
  Write(grpc::ByteBuffer(&slice, 1));
}

bool AgentStream::AddStates(std::string& message) {
  while (!unsent_.empty() && message.size() < kMessageBytes) {
    const auto it = agents_.find(unsent_.front());
    if (it != agents_.end() && it->second.is_unsent) {
      Followed& followed = it->second;
      if (!message.empty() && message.size() + followed.state.size() > kMessageBytes) {
        break;
      }
      message += followed.state;
      followed.is_unsent = false;
      if (followed.agent == nullptr) {
        Erase(it);
      } else if (followed.state.empty()) {
        watches_.Repeat(followed.agent);
      } else {
        DropState(followed);
      }
    }
    unsent_.pop_front();
  }
  // Makes room for the message.
  static_cast<void>(unsent_memory_.Resize(unsent_bytes_));
  static_cast<void>(agents_memory_.Resize(agents_bytes_));
  return unsent_.empty();
}

void AgentStream::AddProgress(Clock::time_point now, std::string& message) {
  constexpr std::size_t kMaxTold = 1000;
  if (told_.size() > kMaxTold) {
    // Most of these maps are gone.
    told_.clear();
  }
  std::vector<PathWatchPtr> watches;
  watches.reserve(agents_.size());
  for (const auto& [id, followed] : agents_) {
    if (followed.agent != nullptr) {
      watches.push_back(followed.agent);
    }
  }
  v1::FollowAgentsResponse progress;
  for (const PathWatchScheduler::Progress& map : watches_.Judge(watches, now - cheaper_every_)) {
    Told& told = told_[map.epoch];
    const core::MapSubscriptions::Standing& before = told.standing;
    // A new agent may be behind.
    if (map.standing.right < before.right || map.standing.walkable < before.walkable) {
      continue;
    }
    const bool has_grown = map.standing.right > before.right || map.standing.walkable > before.walkable;
    if (has_grown || !message.empty() || now - told.time >= kProgressEvery) {
      told = {.standing = map.standing, .time = now};
      v1::MapProgress& added = *progress.add_progress();
      added.set_map(map.map);
      FillVersion({.epoch = map.epoch, .revision = map.standing.right}, *added.mutable_version());
      added.set_walkable_revision(map.standing.walkable);
    }
  }
  progress.AppendToString(&message);
}

}  // namespace waystar::rpc
