// Measures the load that the loop of a game server puts on its pathfinding server, over loopback: agents walk
// while carts drive, on a map of which a tenth is blocked. The loop follows its agents, or asks again for
// each path that a change may concern.

#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/agent_follower.h"
#include "client/client.h"
#include "client/metrics.h"
#include "tests/bench/bench.h"
#include "tests/e2e/server_process.h"

ABSL_FLAG(int, agents, 200, "Agents that walk between random cells, a cell a tick.");
ABSL_FLAG(int, carts, 12, "Carts of 3 x 3 cells that drive to and fro, a cell a tick, all in one batch.");
ABSL_FLAG(int, ticks, 200, "Ticks: 20 a second.");

namespace waystar::bench {
namespace {

using core::Cell;
using std::chrono::steady_clock;

constexpr char kSearches[] = "waystar_search_seconds";
constexpr char kCpu[] = "process_cpu_seconds_total";
constexpr int kSide = 512;
constexpr std::chrono::milliseconds kTick{50};
// A path is concerned by changes up to a cell beside it.
constexpr int kBeside = 1;

v1::Cell ToProto(Cell cell) {
  v1::Cell message;
  message.set_x(cell.x);
  message.set_y(cell.y);
  return message;
}

v1::FindPathRequest QueryOf(Cell start, Cell goal) {
  v1::FindPathRequest query;
  query.set_map("field");
  *query.mutable_start()->mutable_cell() = ToProto(start);
  *query.add_goals()->mutable_cell() = ToProto(goal);
  return query;
}

// How the loop learns of new paths. With kNobody there are no agents, only carts and another client.
enum class Way { kNobody, kOneBox, kAreas, kFollow };

struct Walker {
  Cell goal;
  // Remaining cells of the path, the agent's own last.
  std::vector<Cell> way;

  void Take(const v1::FindPathResponse& answer) {
    if (answer.outcome() != v1::OUTCOME_FOUND) {
      return;
    }
    const Cell here = way.empty() ? Cell{-1, -1} : way.back();
    way.clear();
    for (int i = answer.path().points_size() - 1; i >= 0; --i) {
      way.push_back({answer.path().points(i).x(), answer.path().points(i).y()});
    }
    // The agent has walked on meanwhile.
    if (const auto at = std::ranges::find(way, here); at != way.end()) {
      way.erase(at + 1, way.end());
    }
  }
};

struct Figures {
  std::uint64_t asked = 0;
  double searches = 0;
  double server_seconds = 0;
  int late = 0;
  Sample other_micros;
};

class Loop {
 public:
  Loop(const ServerProcess& server, Way way, int agents)
      : server_(server),
        way_(way),
        client_({.target = absl::StrCat("127.0.0.1:", server.port())}),
        map_(NoiseMap(kSide, 0.1)),
        walkers_(static_cast<std::size_t>(way == Way::kNobody ? 0 : agents)) {}

  Figures Run() {
    MakeField();
    std::unique_ptr<client::AgentFollower> follower;
    if (way_ == Way::kFollow) {
      follower = std::make_unique<client::AgentFollower>(client_);
    }
    for (std::size_t i = 0; i < walkers_.size(); ++i) {
      Walker& walker = walkers_[i];
      const Cell start = WalkableCell(map_, random_);
      walker.goal = WalkableCell(map_, random_);
      walker.way = {start};
      if (follower != nullptr) {
        follower->Put(i, QueryOf(start, walker.goal));
      } else {
        Ask({i});
      }
    }
    if (follower != nullptr) {
      follower->Flush();
      while (!follower->ProgressOf("field")) {
        std::this_thread::sleep_for(kTick);
      }
    }
    return Measure(follower.get());
  }

 private:
  void MakeField() {
    v1::CreateMapRequest create;
    create.set_map("field");
    for (int y = 0; y < map_.height(); ++y) {
      std::string& row = *create.add_rows();
      for (int x = 0; x < map_.width(); ++x) {
        row += map_.IsWalkable({x, y}) ? '.' : '#';
      }
    }
    OrDie(client_.CreateMap(create).status());
    v1::UpdateMapRequest put;
    put.set_map("field");
    for (int i = 0; i < absl::GetFlag(FLAGS_carts); ++i) {
      const Cell at = AnyCell(map_, random_);
      v1::Obstacle& cart = *put.add_edits()->mutable_put_obstacle();
      cart.set_id(absl::StrCat("cart-", i));
      v1::Rectangle& rectangle = *cart.mutable_shape()->add_rectangles();
      rectangle.set_x(at.x);
      rectangle.set_y(at.y);
      rectangle.set_width(3);
      rectangle.set_height(3);
    }
    OrDie(client_.UpdateMap(put).status());
  }

  double Count(std::string_view family) const { return client::SumOf(OrDie(client_.GetMetrics()), family); }

  Figures Measure(client::AgentFollower* follower) {
    Figures figures;
    asked_ = 0;
    std::atomic<bool> is_over = false;
    std::thread other([&] {
      const client::Client own({.target = absl::StrCat("127.0.0.1:", server_.port())});
      Random random(2);
      while (!is_over) {
        const v1::FindPathRequest query = QueryOf(WalkableCell(map_, random), WalkableCell(map_, random));
        figures.other_micros.Add(MicrosOf([&] { static_cast<void>(own.FindPath(query)); }));
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
    const double searches = Count(kSearches);
    const double cpu = Count(kCpu);
    steady_clock::time_point due = steady_clock::now();
    for (int tick = 0; tick < absl::GetFlag(FLAGS_ticks); ++tick) {
      due += kTick;
      Tick(tick, follower);
      figures.late += steady_clock::now() > due ? 1 : 0;
      std::this_thread::sleep_until(due);
    }
    figures.server_seconds = Count(kCpu) - cpu;
    is_over = true;
    other.join();
    figures.searches = Count(kSearches) - searches - static_cast<double>(figures.other_micros.size());
    figures.asked = asked_;
    v1::DeleteMapRequest gone;
    gone.set_map("field");
    OrDie(client_.DeleteMap(gone).status());
    return figures;
  }

  void Tick(int tick, client::AgentFollower* follower) {
    std::vector<std::size_t> to_ask;
    if (follower != nullptr) {
      for (const std::uint64_t agent : follower->TakeNews()) {
        const std::optional<client::AgentPath> path = follower->Find(agent);
        if (path && path->answer) {
          walkers_[agent].Take(*path->answer);
        }
      }
    }
    for (std::size_t i = 0; i < walkers_.size(); ++i) {
      Walker& walker = walkers_[i];
      const bool has_arrived = walker.way.size() == 1;
      if (has_arrived) {
        walker.goal = WalkableCell(map_, random_);
      } else {
        walker.way.pop_back();
      }
      v1::Location place;
      if (follower == nullptr) {
        if (has_arrived) {
          to_ask.push_back(i);
        }
      } else if (has_arrived) {
        *place.mutable_cell() = ToProto(walker.goal);
        follower->SendTo(i, place);
        ++asked_;
      } else {
        *place.mutable_cell() = ToProto(walker.way.back());
        follower->MoveTo(i, place);
      }
    }
    if (follower != nullptr) {
      follower->Flush();
    }
    const std::vector<v1::Rectangle> areas = Drive(tick);
    if (follower == nullptr) {
      for (std::size_t i = 0; i < walkers_.size(); ++i) {
        const bool is_concerned = std::ranges::any_of(walkers_[i].way, [&](Cell cell) {
          return std::ranges::any_of(areas, [&](const v1::Rectangle& area) { return IsNear(area, cell); });
        });
        if (is_concerned) {
          to_ask.push_back(i);
        }
      }
      Ask(to_ask);
    }
  }

  static bool IsNear(const v1::Rectangle& area, Cell cell) {
    return cell.x >= area.x() - kBeside && cell.x < area.x() + area.width() + kBeside &&
           cell.y >= area.y() - kBeside && cell.y < area.y() + area.height() + kBeside;
  }

  // Moves the carts, and returns what changed.
  std::vector<v1::Rectangle> Drive(int tick) {
    v1::UpdateMapRequest update;
    update.set_map("field");
    for (int i = 0; i < absl::GetFlag(FLAGS_carts); ++i) {
      v1::MoveObstacle& move = *update.add_edits()->mutable_move_obstacle();
      move.set_id(absl::StrCat("cart-", i));
      move.set_dx(tick / 20 % 2 == 0 ? 1 : -1);
    }
    const v1::UpdateMapResponse updated = OrDie(client_.UpdateMap(update));
    if (way_ != Way::kAreas) {
      return {updated.changed_bounds()};
    }
    v1::WatchMapRequest request;
    request.set_map("field");
    *request.mutable_after() = updated.version();
    request.mutable_after()->set_revision(updated.version().revision() - 1);
    const auto watch = client_.WatchMap(request);
    std::vector<v1::Rectangle> areas;
    v1::WatchMapResponse event;
    while (areas.empty() && watch->Next(event)) {
      for (const v1::ChangedArea& area : event.commit().changed_areas()) {
        areas.push_back(area.rectangle());
      }
    }
    return areas;
  }

  void Ask(const std::vector<std::size_t>& walkers) {
    if (walkers.empty()) {
      return;
    }
    v1::FindPathsRequest request;
    request.set_map("field");
    for (const std::size_t i : walkers) {
      v1::PathQuery& query = *request.add_queries();
      *query.mutable_start()->mutable_cell() = ToProto(walkers_[i].way.back());
      *query.add_goals()->mutable_cell() = ToProto(walkers_[i].goal);
    }
    asked_ += walkers.size();
    const v1::FindPathsResponse response = OrDie(client_.FindPaths(request));
    for (std::size_t i = 0; i < walkers.size(); ++i) {
      walkers_[walkers[i]].Take(response.results(static_cast<int>(i)).answer());
    }
  }

  const ServerProcess& server_;
  const Way way_;
  const client::Client client_;
  const core::GridMap map_;
  Random random_{1};
  std::vector<Walker> walkers_;
  std::uint64_t asked_ = 0;
};

}  // namespace
}  // namespace waystar::bench

int main(int argc, char** argv) {
  using waystar::bench::Way;
  absl::ParseCommandLine(argc, argv);
  const waystar::ServerProcess server({"--workers=2", "--log_level=error", "--metrics_listen=127.0.0.1:0"},
                                      [] { prctl(PR_SET_PDEATHSIG, SIGKILL); });
  const int agents = absl::GetFlag(FLAGS_agents);
  std::cout << absl::StreamFormat("%d agents   | %9s %9s %10s %6s %14s %14s\n", agents, "asked", "searches",
                                  "server, s", "late", "other p50, us", "other p99, us");
  for (const auto& [way, name] : {std::pair{Way::kNobody, "no agents"}, std::pair{Way::kOneBox, "one box"},
                                  std::pair{Way::kAreas, "areas"}, std::pair{Way::kFollow, "FollowAgents"}}) {
    waystar::bench::Figures figures = waystar::bench::Loop(server, way, agents).Run();
    std::cout << absl::StreamFormat("%-12s | %9d %9.0f %10.2f %6d %14.0f %14.0f\n", name, figures.asked,
                                    figures.searches, figures.server_seconds, figures.late,
                                    figures.other_micros.Median(), figures.other_micros.Percentile(0.99))
              << std::flush;
  }
  return 0;
}
