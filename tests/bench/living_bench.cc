// Times queries on maps that change meanwhile, in this process.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "server/core/edit/edit.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/store/map_store.h"
#include "tests/bench/bench.h"

ABSL_FLAG(std::string, maps, "arena2,TheFrozenSea,battleground",
          "Maps below $WAYSTAR_DATA/movingai, by parts of their names with commas between.");
ABSL_FLAG(int, readers, 2, "Threads that ask for paths.");
ABSL_FLAG(int, cells_per_second, 10'000, "How many cells change.");
ABSL_FLAG(int, cells_per_batch, 10, "How many cells an update changes.");
ABSL_FLAG(double, seconds, 2.0, "Of one phase, still or changing.");
ABSL_FLAG(int, rounds, 5, "How often both phases are run.");

namespace waystar::bench {
namespace {

using core::Cell;
using Clock = std::chrono::steady_clock;

constexpr char kMap[] = "map";
constexpr int kQueries = 2'000;
constexpr int kDoors = 2'000;

struct Phase {
  Sample query_micros;
  Sample update_micros;
  double queries_per_second = 0.0;
};

// Queries, and the cells that open and close. No query begins or ends on such a cell.
struct Workload {
  std::vector<core::PathQuery> queries;
  std::vector<Cell> doors;
};

Workload MakeWorkload(const core::GridMap& map) {
  Random random(1);
  Workload load;
  std::set<std::pair<int, int>> taken;
  while (load.doors.size() < kDoors) {
    const Cell cell = WalkableCell(map, random);
    if (taken.emplace(cell.x, cell.y).second) {
      load.doors.push_back(cell);
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
  for (int i = 0; i < kQueries; ++i) {
    load.queries.push_back({.start = end(), .goal = end(), .path_form = core::PathForm::kCorners});
  }
  return load;
}

void Update(core::MapStore& store, core::Shape block, core::Shape unblock) {
  core::UpdateBatch batch;
  if (!block.empty()) {
    batch.edits.emplace_back(core::BlockCells{std::move(block)});
  }
  if (!unblock.empty()) {
    batch.edits.emplace_back(core::UnblockCells{std::move(unblock)});
  }
  OrDie(store.UpdateAndWait(kMap, std::move(batch)).status());
}

void Read(const core::MapStore& store, const Workload& load, int reader, const std::atomic<bool>& stop,
          Sample& micros) {
  core::Scratch scratch(std::size_t{1} << 30);
  for (std::size_t i = static_cast<std::size_t>(reader) * 977; !stop.load(std::memory_order_relaxed); ++i) {
    micros.Add(MicrosOf([&] {
      const core::PinnedSnapshot snapshot = *store.Pin(kMap);
      OrDie(core::FindPath(snapshot->grid(), load.queries[i % load.queries.size()], {}, scratch).status());
    }));
  }
}

// Opens or closes doors at random, at an even rate. Where it falls behind it does not catch up.
void Write(core::MapStore& store, const Workload& load, std::vector<bool>& closed, Random& random,
           Clock::time_point end, Sample& micros) {
  const auto pause = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
      static_cast<double>(absl::GetFlag(FLAGS_cells_per_batch)) / absl::GetFlag(FLAGS_cells_per_second)));
  for (Clock::time_point next = Clock::now(); next < end; next += pause) {
    std::this_thread::sleep_until(next);
    core::Shape block;
    core::Shape unblock;
    for (int i = 0; i < absl::GetFlag(FLAGS_cells_per_batch); ++i) {
      const auto door = static_cast<std::size_t>(random.Between(0, kDoors - 1));
      closed[door] = !closed[door];
      (closed[door] ? block : unblock).cells.push_back(load.doors[door]);
    }
    micros.Add(MicrosOf([&] { Update(store, std::move(block), std::move(unblock)); }));
  }
}

Phase Run(core::MapStore& store, const Workload& load, bool changing, std::vector<bool>& closed,
          Random& random) {
  Phase phase;
  std::atomic<bool> stop = false;
  std::vector<Sample> micros(static_cast<std::size_t>(absl::GetFlag(FLAGS_readers)));
  const Clock::time_point begin = Clock::now();
  const Clock::time_point end = begin + std::chrono::duration_cast<Clock::duration>(
                                            std::chrono::duration<double>(absl::GetFlag(FLAGS_seconds)));
  std::vector<std::thread> readers;
  for (int i = 0; i < absl::GetFlag(FLAGS_readers); ++i) {
    readers.emplace_back([&, i] { Read(store, load, i, stop, micros[static_cast<std::size_t>(i)]); });
  }
  if (changing) {
    Write(store, load, closed, random, end, phase.update_micros);
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
void PrintChangingMap(const std::string& name, const core::GridMap& map) {
  const Workload load = MakeWorkload(map);
  core::MapStore store(1);
  OrDie(store.Create(kMap, map, absl::Now()).status());
  // Half of the doors are closed from the beginning, so that the map is on average always the same.
  Random random(2);
  std::vector<bool> closed(kDoors, false);
  core::Shape block;
  for (std::size_t door = 0; door < kDoors; door += 2) {
    closed[door] = true;
    block.cells.push_back(load.doors[door]);
  }
  Update(store, std::move(block), {});
  Run(store, load, true, closed, random);

  Sample throughput[2];
  Sample p50[2];
  Sample p99[2];
  Sample throughput_ratio;
  Sample p99_ratio;
  Sample update_micros;
  for (int round = 0; round < absl::GetFlag(FLAGS_rounds); ++round) {
    Phase phases[2];
    for (const int changing : {0, 1}) {
      phases[changing] = Run(store, load, changing == 1, closed, random);
      throughput[changing].Add(phases[changing].queries_per_second);
      p50[changing].Add(phases[changing].query_micros.Median());
      p99[changing].Add(phases[changing].query_micros.Percentile(0.99));
    }
    throughput_ratio.Add(phases[1].queries_per_second / phases[0].queries_per_second);
    p99_ratio.Add(phases[1].query_micros.Percentile(0.99) / phases[0].query_micros.Percentile(0.99));
    update_micros.Append(phases[1].update_micros);
  }
  std::cout << absl::StreamFormat("%-24s | %9.0f %9.0f %6.2f | %8.1f %8.1f %8.1f %6.2f | %9.1f %9.1f\n", name,
                                  throughput[0].Median(), throughput[1].Median(), throughput_ratio.Median(),
                                  p50[0].Median(), p99[0].Median(), p99[1].Median(), p99_ratio.Median(),
                                  update_micros.Median(), update_micros.Percentile(0.99))
            << std::flush;
}

}  // namespace
}  // namespace waystar::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  waystar::bench::PrintChangingMapHeader();
  waystar::bench::PrintChangingMap("random 10 % 1024", waystar::bench::NoiseMap(1024, 0.1));
  for (const auto& map : waystar::bench::MapsNamed(absl::StrSplit(absl::GetFlag(FLAGS_maps), ','))) {
    waystar::bench::PrintChangingMap(map.name, waystar::LoadMovingAiMap(map));
  }
  return 0;
}
