// A thousand agents walk about a town whose doors close in their faces. Each tick of the game asks once, for
// all agents that need a way: those that have arrived, and those whose way a door has closed.
//
//   game_loop [SERVER [TICKS]]

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/client.h"
#include "client/errors.h"
#include "client/examples/cpp/town.h"

namespace {

namespace v1 = waystar::v1;
using Clock = std::chrono::steady_clock;

constexpr int kAgents = 1'000;
constexpr int kTicksPerSecond = 20;
constexpr std::chrono::milliseconds kTick{1'000 / kTicksPerSecond};

struct Agent {
  v1::Cell position;
  v1::Cell goal;
  // Rest of the path, the next cell last.
  std::vector<v1::Cell> way;
  bool needs_way = true;
};

bool IsSame(const v1::Cell& a, const v1::Cell& b) { return a.x() == b.x() && a.y() == b.y(); }

// Watch on a separate thread, which collects the doors that any client has closed.
class ClosedDoors {
 public:
  explicit ClosedDoors(const waystar::client::Client& client)
      : watch_(client.WatchMap(WithEdits())), listener_([this] { Listen(); }) {}
  ~ClosedDoors() {
    watch_->Cancel();
    listener_.join();
  }

  // Returns the doors that were closed since the last call.
  std::vector<v1::Cell> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(closed_, {});
  }

 private:
  static v1::WatchMapRequest WithEdits() {
    v1::WatchMapRequest request;
    request.set_map(town::kMap);
    request.set_with_edits(true);
    return request;
  }

  void Listen() {
    for (v1::WatchMapResponse event; watch_->Next(event);) {
      for (const v1::Edit& edit : event.commit().edits()) {
        // A door that opens removes its obstacle, and is in nobody's way.
        const auto& cells = edit.put_obstacle().shape().cells();
        const std::lock_guard lock(mutex_);
        closed_.insert(closed_.end(), cells.begin(), cells.end());
      }
    }
  }

  const std::unique_ptr<waystar::client::MapWatch> watch_;
  std::mutex mutex_;
  std::vector<v1::Cell> closed_;
  std::thread listener_;
};

class Game {
 public:
  explicit Game(const waystar::client::Client& client) : client_(client), agents_(kAgents) {
    for (Agent& agent : agents_) {
      agent.position = RandomFloor();
      agent.goal = RandomFloor();
    }
  }

  // How many agents needed a new way because of a door.
  int Tick() {
    const int blocked = MarkBlocked(closed_doors_.Take());
    for (Agent& agent : agents_) {
      Walk(agent);
    }
    FindWays();
    return blocked;
  }

  void CloseSomeDoor() {
    const int door = std::uniform_int_distribution(0, static_cast<int>(town::Doors().size()) - 1)(random_);
    if (const absl::Status closed = town::CloseDoor(client_, door); !closed.ok()) {
      std::cerr << "A door does not close: " << closed << "\n";
    }
  }

 private:
  // In the middle of a room, where there is neither wall nor door.
  v1::Cell RandomFloor() {
    std::uniform_int_distribution room(0, town::kSide / 12 - 1);
    std::uniform_int_distribution place(1, 11);
    v1::Cell cell;
    cell.set_x(12 * room(random_) + place(random_));
    cell.set_y(12 * room(random_) + place(random_));
    return cell;
  }

  int MarkBlocked(const std::vector<v1::Cell>& closed) {
    int blocked = 0;
    for (Agent& agent : agents_) {
      const bool is_blocked = std::any_of(agent.way.begin(), agent.way.end(), [&](const v1::Cell& step) {
        return std::any_of(closed.begin(), closed.end(),
                           [&](const auto& door) { return IsSame(step, door); });
      });
      if (is_blocked) {
        agent.needs_way = true;
        ++blocked;
      }
    }
    return blocked;
  }

  void Walk(Agent& agent) {
    if (agent.needs_way) {
      return;
    }
    if (agent.way.empty()) {
      agent.goal = RandomFloor();
      agent.needs_way = true;
      return;
    }
    agent.position = agent.way.back();
    agent.way.pop_back();
  }

  // One call for all of them, answered on one revision of the map.
  void FindWays() {
    v1::FindPathsRequest request;
    request.set_map(town::kMap);
    std::vector<Agent*> asking;
    for (Agent& agent : agents_) {
      if (agent.needs_way) {
        v1::PathQuery& query = *request.add_queries();
        *query.mutable_start()->mutable_cell() = agent.position;
        *query.add_goals()->mutable_cell() = agent.goal;
        asking.push_back(&agent);
      }
    }
    if (asking.empty()) {
      return;
    }
    const auto response = client_.FindPaths(request);
    if (!response.ok()) {
      // They stay where they are and ask again in the next tick.
      std::cerr << "No ways: " << response.status() << "\n";
      return;
    }
    for (std::size_t i = 0; i < asking.size(); ++i) {
      TakeWay(response->results(static_cast<int>(i)), *asking[i]);
    }
  }

  // Who stands in a door that has just closed, or is shut in, tries again in the next tick.
  static void TakeWay(const v1::FindPathsResult& result, Agent& agent) {
    agent.way.clear();
    agent.needs_way = result.answer().outcome() != v1::OUTCOME_FOUND;
    if (!agent.needs_way) {
      const auto& points = result.answer().path().points();
      agent.way.assign(points.rbegin(), points.rend());
      agent.way.pop_back();
    }
  }

  const waystar::client::Client& client_;
  ClosedDoors closed_doors_{client_};
  std::mt19937 random_{7};
  std::vector<Agent> agents_;
};

void Play(Game& game, int ticks) {
  int replans = 0;
  Clock::duration busy{};
  Clock::time_point next = Clock::now();
  for (int tick = 1; tick <= ticks; ++tick) {
    const Clock::time_point begin = Clock::now();
    replans += game.Tick();
    busy += Clock::now() - begin;
    if (tick % 5 == 0) {
      game.CloseSomeDoor();
    }
    if (tick % kTicksPerSecond == 0 || tick == ticks) {
      const double milliseconds = std::chrono::duration<double, std::milli>(busy).count();
      std::cout << "tick " << tick << ": " << kAgents << " agents, " << replans << " ways closed by doors, "
                << milliseconds / kTicksPerSecond << " ms a tick" << std::endl;
      replans = 0;
      busy = {};
    }
    next += kTick;
    std::this_thread::sleep_until(next);
  }
}

}  // namespace

int main(int argc, char** argv) {
  waystar::client::Options options;
  options.target = argc > 1 ? argv[1] : "localhost:7450";
  const waystar::client::Client client(options);
  if (const absl::Status created = town::Create(client); !created.ok()) {
    std::cerr << "No town: " << created << "\n";
    return 1;
  }
  Game game(client);
  Play(game, argc > 2 ? std::atoi(argv[2]) : 10 * kTicksPerSecond);
}
