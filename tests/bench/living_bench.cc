// Times queries on maps that change meanwhile, in this process.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "server/core/edit/edit.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/mesh/search/mesh_samples.h"
#include "server/core/store/map_store.h"
#include "server/formats/mesh/mesh_readers.h"
#include "tests/bench/bench.h"

ABSL_FLAG(double, seconds, 2.0, "Of one phase, still or changing.");
ABSL_FLAG(int, rounds, 5, "How often both phases are run.");

namespace waystar::bench {
namespace {

using core::Cell;
using Clock = std::chrono::steady_clock;

constexpr char kMap[] = "map";
constexpr std::size_t kQueries = 2'000;
constexpr int kDoors = 2'000;
constexpr int kCellsPerSecond = 10'000;
constexpr int kCellsPerBatch = 10;
constexpr std::size_t kCrates = 200;
constexpr double kCratesPerSecond = 1'000;
constexpr int kReaders = 2;

struct Phase {
  Sample query_micros;
  Sample update_micros;
  double queries_per_second = 0.0;
};

using Ask = std::function<void(const core::MapSnapshot& snapshot, std::size_t query)>;

// A map, what readers ask of it, and what changes.
struct World {
  std::string name;
  core::AnyMap map;
  // Applied before the first phase.
  core::UpdateBatch beginning;
  // Makes the reader of one thread.
  std::function<Ask()> make_reader;
  std::function<core::UpdateBatch()> change;
  double changes_per_second = 0.0;
};

// Doors of single cells, half of which are closed. No query begins or ends on one.
World GridWorld(std::string name, const core::GridMap& map) {
  Random random(1);
  std::vector<Cell> doors;
  std::set<std::pair<int, int>> taken;
  while (doors.size() < kDoors) {
    const Cell cell = WalkableCell(map, random);
    if (taken.emplace(cell.x, cell.y).second) {
      doors.push_back(cell);
    }
  }
  const auto end = [&] {
    for (;;) {
      const Cell cell = WalkableCell(map, random);
      if (!taken.contains({cell.x, cell.y})) {
        return cell;
      }
    }
  };
  std::vector<core::PathQuery> queries;
  for (std::size_t i = 0; i < kQueries; ++i) {
    queries.push_back({.start = end(), .goal = end(), .path_form = core::PathForm::kCorners});
  }
  World world{.name = std::move(name), .map = map};
  core::BlockCells block;
  std::vector<bool> closed(kDoors, false);
  for (std::size_t door = 0; door < kDoors; door += 2) {
    closed[door] = true;
    block.shape.cells.push_back(doors[door]);
  }
  world.beginning.edits.emplace_back(std::move(block));
  world.make_reader = [queries] {
    return [queries, scratch = std::make_shared<core::Scratch>(std::size_t{1} << 30)](
               const core::MapSnapshot& snapshot, std::size_t i) {
      OrDie(core::FindPath(snapshot.grid(), queries[i % queries.size()], {}, *scratch).status());
    };
  };
  world.change = [doors, closed, changes = Random(2)]() mutable {
    core::BlockCells blocked;
    core::UnblockCells unblocked;
    for (int i = 0; i < kCellsPerBatch; ++i) {
      const auto door = static_cast<std::size_t>(changes.Between(0, kDoors - 1));
      closed[door] = !closed[door];
      (closed[door] ? blocked.shape : unblocked.shape).cells.push_back(doors[door]);
    }
    core::UpdateBatch batch;
    if (!blocked.shape.empty()) {
      batch.edits.emplace_back(std::move(blocked));
    }
    if (!unblocked.shape.empty()) {
      batch.edits.emplace_back(std::move(unblocked));
    }
    return batch;
  };
  world.changes_per_second = 1.0 * kCellsPerSecond / kCellsPerBatch;
  return world;
}

// Crates that are put elsewhere, one at a time.
World MeshWorld(std::string name, const core::NavMesh& mesh) {
  const std::vector<core::MeshPlace> places =
      OrDie(core::SampleMeshPoints(mesh, {.count = kQueries + kCrates})).places;
  std::vector<core::MeshQuery> queries;
  for (std::size_t i = 0; i + 1 < kQueries; ++i) {
    queries.push_back({.start = places[i].point, .goals = {places[i + 1].point}});
  }
  World world{.name = std::move(name), .map = mesh};
  const auto crate = [places](std::size_t k, std::size_t at) {
    const core::WorldPoint& point = places[at].point;
    return core::PutObstacle{
        .obstacle = {.id = absl::StrCat("crate", k), .shape = {.discs = {{{point.x, point.y}, 1.0}}}},
        .replace = true};
  };
  for (std::size_t k = 0; k < kCrates; ++k) {
    world.beginning.edits.emplace_back(crate(k, kQueries + k));
  }
  world.make_reader = [queries] {
    return [queries, scratch = std::make_shared<core::MeshScratch>(std::size_t{1} << 30)](
               const core::MapSnapshot& snapshot, std::size_t i) {
      // An end may be under a crate.
      static_cast<void>(core::FindMeshPath(*snapshot.as_mesh(), queries[i % queries.size()], {}, *scratch));
    };
  };
  world.change = [crate, changes = Random(2)]() mutable {
    core::UpdateBatch batch;
    batch.edits.emplace_back(crate(static_cast<std::size_t>(changes.Between(0, kCrates - 1)),
                                   static_cast<std::size_t>(changes.Between(0, kQueries + kCrates - 1))));
    return batch;
  };
  world.changes_per_second = kCratesPerSecond;
  return world;
}

void Read(const core::MapStore& store, const World& world, int reader, const std::atomic<bool>& stop,
          Sample& micros) {
  const Ask ask = world.make_reader();
  for (std::size_t i = static_cast<std::size_t>(reader) * 977; !stop.load(std::memory_order_relaxed); ++i) {
    micros.Add(MicrosOf([&] { ask(**store.Pin(kMap), i); }));
  }
}

// Changes the map at an even rate. Where it falls behind it does not catch up.
void Write(core::MapStore& store, const World& world, Clock::time_point end, Sample& micros) {
  const auto pause = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(1.0 / world.changes_per_second));
  for (Clock::time_point next = Clock::now(); next < end; next += pause) {
    std::this_thread::sleep_until(next);
    core::UpdateBatch batch = world.change();
    micros.Add(MicrosOf([&] { OrDie(store.UpdateAndWait(kMap, std::move(batch)).status()); }));
  }
}

Phase Run(core::MapStore& store, const World& world, bool changing) {
  Phase phase;
  std::atomic<bool> stop = false;
  std::vector<Sample> micros(kReaders);
  const Clock::time_point begin = Clock::now();
  const Clock::time_point end = begin + std::chrono::duration_cast<Clock::duration>(
                                            std::chrono::duration<double>(absl::GetFlag(FLAGS_seconds)));
  std::vector<std::thread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([&, i] { Read(store, world, i, stop, micros[static_cast<std::size_t>(i)]); });
  }
  if (changing) {
    Write(store, world, end, phase.update_micros);
  }
  std::this_thread::sleep_until(end);
  stop = true;
  for (std::thread& reader : readers) {
    reader.join();
  }
  const std::chrono::duration<double> elapsed = Clock::now() - begin;
  for (const Sample& sample : micros) {
    phase.query_micros.Append(sample);
  }
  phase.queries_per_second = static_cast<double>(phase.query_micros.size()) / elapsed.count();
  return phase;
}

void PrintChangingMapHeader() {
  std::cout << absl::StreamFormat("%-24s | %9s %9s %6s | %8s %8s %8s %6s | %9s %9s\n", "map", "still q/s",
                                  "changing", "ratio", "p50 us", "p99 us", "changing", "ratio", "update us",
                                  "p99 us");
}

// Prints a line: queries a second, median and 99th percentile of a query's time in both kinds of phases,
// their ratios (each the median of the rounds), and what an update took from call to answer.
void PrintChangingMap(const World& world) {
  core::MapStore store(1);
  OrDie(store.Create(kMap, world.map, absl::Now()).status());
  OrDie(store.UpdateAndWait(kMap, core::UpdateBatch(world.beginning)).status());
  Run(store, world, true);

  Sample throughput[2];
  Sample p50[2];
  Sample p99[2];
  Sample throughput_ratio;
  Sample p99_ratio;
  Sample update_micros;
  for (int round = 0; round < absl::GetFlag(FLAGS_rounds); ++round) {
    Phase phases[2];
    for (const int changing : {0, 1}) {
      phases[changing] = Run(store, world, changing == 1);
      throughput[changing].Add(phases[changing].queries_per_second);
      p50[changing].Add(phases[changing].query_micros.Median());
      p99[changing].Add(phases[changing].query_micros.Percentile(0.99));
    }
    throughput_ratio.Add(phases[1].queries_per_second / phases[0].queries_per_second);
    p99_ratio.Add(phases[1].query_micros.Percentile(0.99) / phases[0].query_micros.Percentile(0.99));
    update_micros.Append(phases[1].update_micros);
  }
  std::cout << absl::StreamFormat("%-24s | %9.0f %9.0f %6.2f | %8.1f %8.1f %8.1f %6.2f | %9.1f %9.1f\n",
                                  world.name, throughput[0].Median(), throughput[1].Median(),
                                  throughput_ratio.Median(), p50[0].Median(), p99[0].Median(),
                                  p99[1].Median(), p99_ratio.Median(), update_micros.Median(),
                                  update_micros.Percentile(0.99))
            << std::flush;
}

}  // namespace
}  // namespace waystar::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  waystar::bench::PrintChangingMapHeader();
  using namespace waystar::bench;
  PrintChangingMap(GridWorld("random 10 % 1024", NoiseMap(1024, 0.1)));
  for (const auto& map : MapsNamed({"arena2", "TheFrozenSea", "battleground"})) {
    PrintChangingMap(GridWorld(map.name, waystar::LoadMovingAiMap(map)));
  }
  for (const std::string name : {"aurora", "scene_mp_2p_01"}) {
    std::ifstream file(*waystar::DataFolder() / "meshes" / "polyanya" / absl::StrCat(name, ".mesh"));
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    PrintChangingMap(MeshWorld(name, OrDie(waystar::core::ParsePolyanyaMesh(bytes))));
  }
  return 0;
}
