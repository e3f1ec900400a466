#include "client/agent_follower.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "absl/time/clock.h"
#include "client/errors.h"

namespace waystar::client {
namespace {

constexpr absl::Duration kFirstDelay = absl::Milliseconds(100);
constexpr absl::Duration kLastDelay = absl::Seconds(5);
constexpr absl::Duration kRetryDelay = absl::Seconds(1);
// The server takes no more changes in a message; its bytes stay well below the limit.
constexpr int kMaxChanges = 10'000;
constexpr std::size_t kMessageBytes = std::size_t{1} << 20;

// Returns what the server reads of a path that it gets back.
v1::Path Held(v1::Path path) {
  path.clear_surface();
  path.clear_corridor();
  path.clear_polygons();
  if (path.points_size() + path.directions_size() + path.nodes_size() > 0) {
    path.clear_positions();
  }
  return path;
}

// Returns true if another stream may succeed.
bool IsTemporary(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kFailedPrecondition:
      return false;
    default:
      return true;
  }
}

}  // namespace

AgentFollower::AgentFollower(const Client& client, v1::FollowAgentsRequest settings)
    : client_(client), settings_(std::move(settings)), reader_([this] { Run(); }) {}

AgentFollower::~AgentFollower() {
  {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
    if (stream_ != nullptr) {
      stream_->Cancel();
    }
  }
  ended_.notify_all();
  reader_.join();
}

v1::AgentChange& AgentFollower::Change(std::uint64_t agent) {
  v1::AgentChange& change = changes_.emplace_back();
  change.set_agent(agent);
  change.set_number(++number_);
  return change;
}

void AgentFollower::Put(std::uint64_t agent, const v1::FindPathRequest& query) {
  const std::lock_guard lock(mutex_);
  *Change(agent).mutable_put() = query;
  Agent& put = agents_[agent];
  put = {.query = query, .asked = number_, .is_news = put.is_news};
}

void AgentFollower::PutAgain(std::uint64_t id, Agent& agent) {
  v1::AgentChange& change = Change(id);
  *change.mutable_put() = agent.query;
  if (agent.right) {
    v1::HeldPath& held = *change.mutable_held();
    *held.mutable_path() = Held(agent.path.answer->path());
    held.set_cost(agent.path.answer->cost());
    *held.mutable_version() = *agent.right;
    if (held.ByteSizeLong() > kMessageBytes) {
      change.clear_held();
    }
  }
  agent.asked = number_;
  agent.is_followed = false;
}

void AgentFollower::MoveTo(std::uint64_t agent, const v1::Location& place, const std::string& map) {
  const std::lock_guard lock(mutex_);
  const auto it = agents_.find(agent);
  if (it == agents_.end()) {
    return;
  }
  v1::FindPathRequest& query = it->second.query;
  *query.mutable_start() = place;
  if (!map.empty() && map != query.map()) {
    const std::string goal_map = query.goal_map().empty() ? query.map() : query.goal_map();
    query.set_goal_map(goal_map == map ? "" : goal_map);
    query.set_map(map);
    query.clear_view();
    AskAgain(agent, it->second);
  } else if (!it->second.path.has_ended || !it->second.is_followed) {
    *Change(agent).mutable_at() = place;
  }
}

void AgentFollower::AskAgain(std::uint64_t id, Agent& agent) {
  agent.right.reset();
  agent.path = {};
  PutAgain(id, agent);
}

void AgentFollower::SendTo(std::uint64_t agent, const v1::Location& goal) {
  const std::lock_guard lock(mutex_);
  const auto it = agents_.find(agent);
  if (it == agents_.end()) {
    return;
  }
  Agent& sent = it->second;
  sent.query.clear_goals();
  *sent.query.add_goals() = goal;
  AskAgain(agent, sent);
}

void AgentFollower::Remove(std::uint64_t agent) {
  const std::lock_guard lock(mutex_);
  if (agents_.erase(agent) > 0) {
    Change(agent).mutable_remove();
  }
}

void AgentFollower::Flush() {
  std::shared_ptr<AgentStream> stream;
  {
    const std::lock_guard lock(mutex_);
    const absl::Time now = absl::Now();
    for (; !retries_.empty() && retries_.front().first <= now; retries_.pop_front()) {
      const auto it = agents_.find(retries_.front().second);
      if (it != agents_.end() && it->second.path.has_ended) {
        PutAgain(it->first, it->second);
      }
    }
    stream = stream_;
    if (stream == nullptr) {
      // A stream that is opened later puts all agents as they are then.
      changes_.clear();
      return;
    }
  }
  SendAll(*stream);
}

v1::FollowAgentsRequest AgentFollower::TakeChanges() {
  v1::FollowAgentsRequest message;
  std::size_t bytes = 0;
  while (!changes_.empty() && message.changes_size() < kMaxChanges) {
    bytes += changes_.front().ByteSizeLong();
    if (bytes > kMessageBytes && message.changes_size() > 0) {
      break;
    }
    message.add_changes()->Swap(&changes_.front());
    changes_.pop_front();
  }
  return message;
}

void AgentFollower::SendAll(AgentStream& stream) {
  const std::lock_guard sending(sending_);
  while (true) {
    v1::FollowAgentsRequest message;
    {
      const std::lock_guard lock(mutex_);
      if (stream_.get() != &stream || changes_.empty()) {
        return;
      }
      message = TakeChanges();
    }
    // If the stream has ended, the reader opens another one.
    if (!stream.Send(message)) {
      return;
    }
  }
}

std::vector<std::uint64_t> AgentFollower::TakeNews() {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> news;
  for (const std::uint64_t agent : std::exchange(news_, {})) {
    const auto it = agents_.find(agent);
    if (it != agents_.end() && std::exchange(it->second.is_news, false)) {
      news.push_back(agent);
    }
  }
  return news;
}

std::optional<AgentPath> AgentFollower::Find(std::uint64_t agent) const {
  const std::lock_guard lock(mutex_);
  const auto it = agents_.find(agent);
  return it == agents_.end() ? std::nullopt : std::optional(it->second.path);
}

std::optional<v1::MapProgress> AgentFollower::ProgressOf(const std::string& map) const {
  const std::lock_guard lock(mutex_);
  const auto it = progress_.find(map);
  const bool covers_all = std::ranges::all_of(agents_, [&](const auto& each) {
    const Agent& agent = each.second;
    return agent.is_followed || agent.path.has_ended || agent.query.map() != map;
  });
  return covers_all && it != progress_.end() ? std::optional(it->second) : std::nullopt;
}

absl::Status AgentFollower::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void AgentFollower::Run() {
  absl::Duration delay = kFirstDelay;
  while (true) {
    const std::shared_ptr<AgentStream> stream = Open();
    // The server may not read on before its answers are read.
    std::thread sender([&] {
      {
        const std::lock_guard sending(sending_);
        stream->Send(settings_);
      }
      SendAll(*stream);
    });
    v1::FollowAgentsResponse message;
    while (stream->Receive(message)) {
      delay = kFirstDelay;
      Take(message);
    }
    sender.join();
    const absl::Status status = stream->Finish();
    {
      const std::lock_guard lock(mutex_);
      stream_ = nullptr;
      TakeProgress();
      progress_.clear();
      if (!is_ended_ && !status.ok() && !IsTemporary(status)) {
        status_ = status;
        return;
      }
    }
    if (!Wait(std::max(delay, RetryDelayOf(status)))) {
      return;
    }
    delay = std::min(2 * delay, kLastDelay);
  }
}

std::shared_ptr<AgentStream> AgentFollower::Open() {
  std::shared_ptr<AgentStream> stream = client_.FollowAgents();
  const std::lock_guard lock(mutex_);
  changes_.clear();
  retries_.clear();
  for (auto& [id, agent] : agents_) {
    PutAgain(id, agent);
  }
  stream_ = stream;
  if (is_ended_) {
    stream->Cancel();
  }
  return stream;
}

void AgentFollower::Take(const v1::FollowAgentsResponse& message) {
  const std::lock_guard lock(mutex_);
  for (const v1::AgentState& state : message.states()) {
    const auto it = agents_.find(state.agent());
    if (it == agents_.end() || state.number() < it->second.asked) {
      continue;
    }
    AgentPath& path = it->second.path;
    std::optional<v1::Version>& right = it->second.right;
    const bool was_right = path.problem.ok();
    it->second.is_followed = true;
    path.version = state.version();
    path.has_ended = state.has_end();
    path.problem = absl::OkStatus();
    if (state.has_held()) {
      if (was_right) {
        continue;
      }
    } else if (state.has_answer()) {
      path.answer = state.answer();
      right = path.answer->outcome() == v1::OUTCOME_FOUND ? std::optional(state.version()) : std::nullopt;
    } else {
      path.problem = FromMessage(state.has_end() ? state.end() : state.problem());
      if (ReasonOf(path.problem) != "REVISION_NOT_YET") {
        right.reset();
      }
    }
    const bool is_replaced = ReasonOf(path.problem) == "MAP_REPLACED";
    if (is_replaced) {
      retries_.emplace_front(absl::Now(), state.agent());
    } else if (state.has_end() &&
               (absl::IsUnavailable(path.problem) || absl::IsResourceExhausted(path.problem))) {
      retries_.emplace_back(absl::Now() + kRetryDelay, state.agent());
    }
    if (!std::exchange(it->second.is_news, true)) {
      news_.push_back(state.agent());
    }
  }
  for (const v1::MapProgress& progress : message.progress()) {
    progress_[progress.map()] = progress;
  }
}

void AgentFollower::TakeProgress() {
  for (auto& [id, agent] : agents_) {
    const auto progress = progress_.find(agent.query.map());
    if (agent.right && agent.is_followed && progress != progress_.end() &&
        progress->second.version().epoch() == agent.right->epoch() &&
        progress->second.version().revision() > agent.right->revision()) {
      *agent.right = progress->second.version();
    }
  }
}

bool AgentFollower::Wait(absl::Duration delay) {
  std::unique_lock lock(mutex_);
  return !ended_.wait_for(lock, absl::ToChronoMilliseconds(delay), [this] { return is_ended_; });
}

}  // namespace waystar::client
