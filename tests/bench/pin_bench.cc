// Times what it takes to pin a map's latest snapshot and to let go of it, on more and more threads, in this
// process; beside the same table of pointers under one mutex.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "server/base/mutex.h"
#include "server/core/edit/edit.h"
#include "server/core/map/grid_map.h"
#include "server/core/store/map_store.h"
#include "tests/bench/sample.h"

ABSL_FLAG(int, maps, 100, "Maps of the store. All but one are never asked for.");
ABSL_FLAG(int, max_threads, 8, "Threads that pin: 1, 2, 4 and so on up to this.");
ABSL_FLAG(double, seconds, 0.5, "Of one measurement.");
ABSL_FLAG(int, rounds, 5, "How often each measurement is made; the medians are printed.");

namespace waystar::bench {
namespace {

using core::PinnedSnapshot;
using Clock = std::chrono::steady_clock;

constexpr char kMap[] = "map-0";
constexpr int kPinsBetweenLooks = 64;

// Every reader takes the same lock and counts on the same reference count.
class OneMutexTable {
 public:
  explicit OneMutexTable(const core::MapStore& store) {
    for (const PinnedSnapshot& snapshot : store.List("", std::size_t{1} << 20)) {
      latest_.emplace(snapshot->id, snapshot);
    }
  }

  PinnedSnapshot Pin(absl::string_view id) const {
    MutexLock lock(mutex_);
    return latest_.find(id)->second;
  }

  void Publish(PinnedSnapshot snapshot) {
    MutexLock lock(mutex_);
    latest_.find(snapshot->id)->second.swap(snapshot);
  }

 private:
  mutable Mutex mutex_;
  absl::flat_hash_map<std::string, PinnedSnapshot> latest_ ABSL_GUARDED_BY(mutex_);
};

struct Figures {
  Sample pin_nanos;
  Sample update_micros;
};

template <typename T>
T ValueOrExit(absl::StatusOr<T> value) {
  if (!value.ok()) {
    std::cerr << value.status() << "\n";
    std::exit(1);
  }
  return *std::move(value);
}

core::MapStore& FillStore(core::MapStore& store, int maps) {
  for (int i = 0; i < maps; ++i) {
    ValueOrExit(store.Create(absl::StrCat("map-", i), *core::GridMap::Create(64, 64, {}), absl::Now()));
  }
  return store;
}

void BlockOrUnblock(core::MapStore& store, bool blocks) {
  const core::Shape cell{.cells = {{7, 7}}};
  core::UpdateBatch batch;
  if (blocks) {
    batch.edits.emplace_back(core::BlockCells{cell});
  } else {
    batch.edits.emplace_back(core::UnblockCells{cell});
  }
  ValueOrExit(store.UpdateAndWait(kMap, std::move(batch)));
}

// Calls pin() on so many threads for some time, and update(bool) at full rate on one more if it `updates`.
template <typename PinOne, typename UpdateOne>
void Measure(int threads, bool updates, const PinOne& pin, const UpdateOne& update, Figures& figures) {
  std::atomic<bool> stop = false;
  std::atomic<std::int64_t> pins = 0;
  std::vector<std::thread> running;
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&] {
      std::int64_t own = 0;
      std::uint64_t newest = 0;
      for (; !stop.load(std::memory_order_relaxed); own += kPinsBetweenLooks) {
        for (int k = 0; k < kPinsBetweenLooks; ++k) {
          const std::uint64_t revision = pin()->revision;
          if (revision < newest) {
            std::cerr << "revision " << revision << " came after " << newest << "\n";
            std::exit(1);
          }
          newest = revision;
        }
      }
      pins += own;
    });
  }
  std::int64_t updated = 0;
  if (updates) {
    running.emplace_back([&] {
      for (; !stop.load(std::memory_order_relaxed); ++updated) {
        update(updated % 2 == 0);
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(absl::GetFlag(FLAGS_seconds)));
  stop = true;
  for (std::thread& thread : running) {
    thread.join();
  }
  const double nanos = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
  const int processors = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  figures.pin_nanos.Add(nanos * std::min(threads, processors) / static_cast<double>(pins));
  if (updated > 0) {
    figures.update_micros.Add(nanos / 1000.0 / static_cast<double>(updated));
  }
}

void Print(int threads, bool updates) {
  core::MapStore store(static_cast<std::size_t>(absl::GetFlag(FLAGS_maps)));
  OneMutexTable table(FillStore(store, absl::GetFlag(FLAGS_maps)));
  Figures striped;
  Figures one_mutex;
  for (int round = 0; round < absl::GetFlag(FLAGS_rounds); ++round) {
    Measure(
        threads, updates, [&] { return *store.Pin(kMap); },
        [&](bool blocks) { BlockOrUnblock(store, blocks); }, striped);
    table.Publish(*store.Pin(kMap));
    Measure(
        threads, updates, [&] { return table.Pin(kMap); },
        [&](bool blocks) {
          BlockOrUnblock(store, blocks);
          table.Publish(*store.Pin(kMap));
        },
        one_mutex);
  }
  std::cout << absl::StreamFormat("%7d  %-8s | %8.1f %9.1f %6.2f |", threads, updates ? "changing" : "still",
                                  striped.pin_nanos.Percentile(0.5), one_mutex.pin_nanos.Percentile(0.5),
                                  one_mutex.pin_nanos.Percentile(0.5) / striped.pin_nanos.Percentile(0.5));
  if (updates) {
    std::cout << absl::StreamFormat(" %9.1f %9.1f", striped.update_micros.Percentile(0.5),
                                    one_mutex.update_micros.Percentile(0.5));
  }
  std::cout << "\n" << std::flush;
}

}  // namespace
}  // namespace waystar::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  // A pin's time is that of one processor: of as many as there are threads, or of all.
  std::cout << absl::StreamFormat("%7s  %-8s | %8s %9s %6s | %9s %9s\n", "threads", "map", "pin ns",
                                  "one mutex", "times", "update us", "one mutex");
  for (const bool updates : {false, true}) {
    for (int threads = 1; threads <= absl::GetFlag(FLAGS_max_threads); threads *= 2) {
      waystar::bench::Print(threads, updates);
    }
  }
  return 0;
}
