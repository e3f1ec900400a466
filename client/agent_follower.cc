#include "client/agent_follower.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/errors.h"

namespace waystar::client {
namespace {

constexpr absl::Duration kFirstDelay = absl::Milliseconds(100);
constexpr absl::Duration kLastDelay = absl::Seconds(5);
// The server takes no more in a message.
constexpr int kMaxChanges = 10'000;

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

AgentFollower::AgentFollower(const Client& client) : client_(client), reader_([this] { Run(); }) {}

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
  v1::AgentChange& change = *changes_.add_changes();
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

void AgentFollower::MoveTo(std::uint64_t agent, const v1::Location& place) {
  const std::lock_guard lock(mutex_);
  if (const auto it = agents_.find(agent); it != agents_.end()) {
    *Change(agent).mutable_at() = place;
    *it->second.query.mutable_start() = place;
  }
}

void AgentFollower::SendTo(std::uint64_t agent, const v1::Location& goal) {
  const std::lock_guard lock(mutex_);
  if (const auto it = agents_.find(agent); it != agents_.end()) {
    *Change(agent).mutable_goal() = goal;
    Agent& sent = it->second;
    sent.query.clear_goals();
    *sent.query.add_goals() = goal;
    sent.asked = number_;
    sent.path = {};
  }
}

void AgentFollower::Remove(std::uint64_t agent) {
  const std::lock_guard lock(mutex_);
  if (agents_.erase(agent) > 0) {
    Change(agent).mutable_remove();
  }
}

void AgentFollower::Flush() {
  const std::lock_guard sending(sending_);
  while (true) {
    std::shared_ptr<AgentStream> stream;
    v1::FollowAgentsRequest message;
    {
      const std::lock_guard lock(mutex_);
      if (stream_ == nullptr || changes_.changes().empty()) {
        // A stream that is opened later puts all agents as they are then.
        changes_.Clear();
        return;
      }
      stream = stream_;
      if (changes_.changes_size() <= kMaxChanges) {
        message.Swap(&changes_);
      } else {
        auto* const changes = changes_.mutable_changes();
        message.mutable_changes()->Assign(changes->begin(), changes->begin() + kMaxChanges);
        changes->DeleteSubrange(0, kMaxChanges);
      }
    }
    // If the stream has ended, the reader opens another one.
    stream->Send(message);
  }
}

std::vector<std::uint64_t> AgentFollower::TakeNews() {
  const std::lock_guard lock(mutex_);
  for (const std::uint64_t agent : news_) {
    if (const auto it = agents_.find(agent); it != agents_.end()) {
      it->second.is_news = false;
    }
  }
  return std::exchange(news_, {});
}

std::optional<AgentPath> AgentFollower::Find(std::uint64_t agent) const {
  const std::lock_guard lock(mutex_);
  const auto it = agents_.find(agent);
  return it == agents_.end() ? std::nullopt : std::optional(it->second.path);
}

std::optional<v1::Version> AgentFollower::ProgressOf(const std::string& map) const {
  const std::lock_guard lock(mutex_);
  const auto it = progress_.find(map);
  return it == progress_.end() ? std::nullopt : std::optional(it->second);
}

absl::Status AgentFollower::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void AgentFollower::Run() {
  absl::Duration delay = kFirstDelay;
  while (true) {
    const std::shared_ptr<AgentStream> stream = Open();
    v1::FollowAgentsResponse message;
    while (stream->Receive(message)) {
      delay = kFirstDelay;
      Take(message);
    }
    const absl::Status status = stream->Finish();
    {
      const std::lock_guard lock(mutex_);
      stream_ = nullptr;
      progress_.clear();
      if (!is_ended_ && !status.ok() && !IsTemporary(status)) {
        status_ = status;
        return;
      }
    }
    if (!Wait(delay)) {
      return;
    }
    delay = std::min(2 * delay, kLastDelay);
  }
}

std::shared_ptr<AgentStream> AgentFollower::Open() {
  const std::lock_guard sending(sending_);
  const std::shared_ptr<AgentStream> stream = client_.FollowAgents();
  std::vector<v1::FollowAgentsRequest> messages;
  {
    const std::lock_guard lock(mutex_);
    changes_.Clear();
    for (auto& [id, agent] : agents_) {
      *Change(id).mutable_put() = agent.query;
      agent.asked = number_;
      if (changes_.changes_size() == kMaxChanges) {
        messages.emplace_back().Swap(&changes_);
      }
    }
    messages.emplace_back().Swap(&changes_);
    stream_ = stream;
    if (is_ended_) {
      stream->Cancel();
    }
  }
  for (const v1::FollowAgentsRequest& message : messages) {
    if (!message.changes().empty()) {
      stream->Send(message);
    }
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
    path.version = state.version();
    path.has_ended = state.has_end();
    path.problem = absl::OkStatus();
    if (state.has_answer()) {
      path.answer = state.answer();
    } else {
      path.problem = FromMessage(state.has_end() ? state.end() : state.problem());
    }
    if (!std::exchange(it->second.is_news, true)) {
      news_.push_back(state.agent());
    }
  }
  for (const v1::MapProgress& progress : message.progress()) {
    progress_[progress.map()] = progress.version();
  }
}

bool AgentFollower::Wait(absl::Duration delay) {
  std::unique_lock lock(mutex_);
  return !ended_.wait_for(lock, absl::ToChronoMilliseconds(delay), [this] { return is_ended_; });
}

}  // namespace waystar::client
