// Follows agents that walk, and keeps the newest state of each, over one stream after the other.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::client {

// The newest state of an agent. Before the first one all fields are empty.
struct AgentPath {
  // The newest answer to the agent's query. It stays while there is a problem.
  std::optional<v1::FindPathResponse> answer;
  // Why there is no answer now; OK if there is none.
  absl::Status problem;
  // True while the server does not follow the agent: `problem` is why.
  bool has_ended = false;
  // Version of the map that the state is for.
  v1::Version version;
};

// FollowAgents (see there) for a game loop: change agents, call Flush once a tick, and take what is new. When
// a stream ends because the server is gone, restarts or is too busy, the follower opens another one, after
// 100 ms at first and up to 5 s later, and puts all agents where they are, with the paths that they have. It
// puts an agent again with a later Flush, if that has ended because its map was replaced or is not loaded
// yet, or the server has no room.
//
// Thread safety: any thread may call any method.
class AgentFollower {
 public:
  // `settings` are those of each stream: at_most_every, off_path and cheaper_every. The client must outlive
  // the follower.
  explicit AgentFollower(const Client& client, v1::FollowAgentsRequest settings = {});
  AgentFollower(const AgentFollower&) = delete;
  AgentFollower& operator=(const AgentFollower&) = delete;
  // Ends the stream.
  ~AgentFollower();

  // Changes of agents, which Flush sends. MoveTo and SendTo do nothing for an agent that was not put. `map`
  // is the map that an agent has come to through a portal; empty if it is on the same as before.
  void Put(std::uint64_t agent, const v1::FindPathRequest& query);
  void MoveTo(std::uint64_t agent, const v1::Location& place, const std::string& map = "");
  void SendTo(std::uint64_t agent, const v1::Location& goal);
  void Remove(std::uint64_t agent);
  // Sends the changes since the last call. Blocks while the server does not read.
  void Flush();

  // Returns the agents whose state is new since the last call.
  std::vector<std::uint64_t> TakeNews();
  // Returns the newest state of an agent; nullopt if it was not put.
  std::optional<AgentPath> Find(std::uint64_t agent) const;
  // Returns the versions at which the paths of all agents on the map are known to be right and walkable;
  // nullopt while there is none.
  std::optional<v1::MapProgress> ProgressOf(const std::string& map) const;

  // Returns OK while a stream is open or may be opened. An error that another stream would have too, such as
  // a wrong token, ends the follower for good.
  absl::Status status() const;

 private:
  struct Agent {
    // Its start is where the agent is.
    v1::FindPathRequest query;
    // Number of the change that set the query. States for older queries are ignored.
    std::uint64_t asked = 0;
    AgentPath path;
    // The newest version at which the answer of `path` was right; unset if there is none.
    std::optional<v1::Version> right;
    // True once this stream has sent a state for the newest query: progress is about it too.
    bool is_followed = false;
    bool is_news = false;
  };

  v1::AgentChange& Change(std::uint64_t agent);
  // Puts an agent where it is, with the path that it has.
  void PutAgain(std::uint64_t id, Agent& agent);
  // Puts an agent whose query has changed.
  void AskAgain(std::uint64_t id, Agent& agent);
  // Takes changes for one message.
  v1::FollowAgentsRequest TakeChanges();
  // Sends all changes on that stream. Blocks while the server does not read.
  void SendAll(AgentStream& stream);
  // Opens streams and reads them until the follower ends.
  void Run();
  // Opens a stream, and makes changes that put all agents on it.
  std::shared_ptr<AgentStream> Open();
  void Take(const v1::FollowAgentsResponse& message);
  // Notes the versions at which the paths of agents are right.
  void TakeProgress();
  // Waits before another stream is opened. Returns false if the follower ends.
  bool Wait(absl::Duration delay);

  const Client& client_;
  const v1::FollowAgentsRequest settings_;
  // Held while a message is sent, so that messages stay in order. Before mutex_.
  std::mutex sending_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool is_ended_ = false;
  absl::Status status_;
  std::shared_ptr<AgentStream> stream_;
  std::unordered_map<std::uint64_t, Agent> agents_;
  std::vector<std::uint64_t> news_;
  std::map<std::string, v1::MapProgress> progress_;
  std::uint64_t number_ = 0;
  // The changes since the last Flush.
  std::deque<v1::AgentChange> changes_;
  // Agents to put again, and when.
  std::deque<std::pair<absl::Time, std::uint64_t>> retries_;
  // Last, as it uses all of the above.
  std::thread reader_;
};

}  // namespace waystar::client
