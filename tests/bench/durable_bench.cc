// Times updates of maps that are kept in a folder, beside maps in memory and beside bare writes of as many
// bytes.

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/store/map_store.h"
#include "server/storage/folder/data_folder.h"
#include "server/storage/folder/folder.h"
#include "tests/bench/bench.h"

ABSL_FLAG(std::string, folder, "",
          "Where files are written; by default a new one where temporary files lie.");
ABSL_FLAG(int, rounds, 5, "How often each is measured.");
ABSL_FLAG(bool, starts, true, "Starts of servers, too.");

namespace waystar::bench {
namespace {

using Clock = std::chrono::steady_clock;
using core::Cell;

constexpr char kMap[] = "map";
constexpr int kSide = 1024;
constexpr int kSinglesOfRound = 300;
constexpr int kInFlight = 1000;
constexpr int kUpdatesOfRound = 50'000;
constexpr int kChangesPerSecond = 10'000;
constexpr std::chrono::seconds kPhase(2);

// A store, in memory or with a folder.
class Maps {
 public:
  Maps() = default;
  explicit Maps(const std::string& folder) {
    storage::DataOptions options;
    options.read.threads = static_cast<int>(std::thread::hardware_concurrency());
    data_ =
        OrDie(storage::DataFolder::Open(OrDie(storage::OpenPosixFolder(folder)), store_, options, found_));
  }

  core::MapStore& store() { return store_; }
  storage::DataFolder& data() { return *data_; }
  const storage::DataFound& found() const { return found_; }

 private:
  core::MapStore store_{2000};
  storage::DataFound found_;
  std::unique_ptr<storage::DataFolder> data_;
};

core::UpdateBatch Toggle(Random& random) {
  const Cell cell{random.Between(0, kSide - 1), random.Between(0, kSide - 1)};
  if (random.Chance(0.5)) {
    return {.edits = {core::BlockCells{{.cells = {cell}}}}};
  }
  return {.edits = {core::UnblockCells{{.cells = {cell}}}}};
}

void UpdateLater(core::MapStore& store, Random& random, InFlight& in_flight, int max) {
  in_flight.Begin(max);
  store.Update(kMap, Toggle(random),
               [&](const absl::StatusOr<core::UpdateResult>& result) { in_flight.End(result.status()); });
}

// A file to which as many bytes are written as a commit takes.
class BareFile {
 public:
  explicit BareFile(const std::string& path)
      : file_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {}
  BareFile(const BareFile&) = delete;
  BareFile& operator=(const BareFile&) = delete;
  ~BareFile() { close(file_); }

  void Write(const std::string& bytes) const {
    if (write(file_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
        fdatasync(file_) != 0) {
      Die("cannot write");
    }
  }

 private:
  const int file_;
};

void PrintSingles(Maps& in_memory, Maps& durable, const std::string& folder, int rounds) {
  Random random(1);
  const storage::DataStatistics before = durable.data().Statistics();
  OrDie(durable.store().UpdateAndWait(kMap, Toggle(random)).status());
  const std::uint64_t bytes = durable.data().Statistics().log.written_bytes - before.log.written_bytes;
  const std::string record(bytes, 'x');
  const BareFile bare(absl::StrCat(folder, "/bare"));
  Sample micros[3];
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < kSinglesOfRound; ++i) {
      micros[0].Add(MicrosOf([&] { bare.Write(record); }));
      micros[1].Add(MicrosOf([&] { OrDie(durable.store().UpdateAndWait(kMap, Toggle(random)).status()); }));
      micros[2].Add(MicrosOf([&] { OrDie(in_memory.store().UpdateAndWait(kMap, Toggle(random)).status()); }));
    }
  }
  std::cout << "One cell, one update at a time, each of " << bytes << " bytes\n";
  const char* const names[] = {"bare write and fdatasync", "durable", "in memory"};
  for (int i = 0; i < 3; ++i) {
    std::cout << absl::StreamFormat("  %-26s p50 %8.1f us  p99 %8.1f us\n", names[i], micros[i].Median(),
                                    micros[i].Percentile(0.99));
  }
  std::cout << absl::StreamFormat("  durable : bare             p50 %8.2f\n",
                                  micros[1].Median() / micros[0].Median());
}

double UpdatesPerSecond(Maps& maps, Random& random) {
  InFlight in_flight;
  const double micros = MicrosOf([&] {
    for (int i = 0; i < kUpdatesOfRound; ++i) {
      UpdateLater(maps.store(), random, in_flight, kInFlight);
    }
    in_flight.WaitForAll();
  });
  return kUpdatesOfRound / micros * 1e6;
}

// Prints the median rates in memory and of durable maps, measured by turns, and the median of their ratios.
template <typename Rate>
void PrintRates(const std::string& what, Maps& in_memory, Maps& durable, int rounds, Rate rate) {
  Sample rates[2];
  Sample ratios;
  for (int round = 0; round < rounds; ++round) {
    const double memory = rate(in_memory);
    const double folder = rate(durable);
    rates[0].Add(memory);
    rates[1].Add(folder);
    ratios.Add(folder / memory);
  }
  std::cout << absl::StreamFormat("%s: in memory %.0f a second, durable %.0f: %.2f\n", what,
                                  rates[0].Median(), rates[1].Median(), ratios.Median());
}

double QueriesPerSecond(Maps& maps) {
  std::atomic<bool> stop = false;
  std::uint64_t queries = 0;
  const Clock::time_point begin = Clock::now();
  std::thread reader([&] {
    core::Scratch scratch(std::size_t{1} << 30);
    Random random(3);
    for (; !stop.load(std::memory_order_relaxed); ++queries) {
      const core::PinnedSnapshot snapshot = OrDie(maps.store().Pin(kMap));
      const core::PathQuery query{.start = {random.Between(0, kSide - 1), random.Between(0, kSide - 1)},
                                  .goal = {random.Between(0, kSide - 1), random.Between(0, kSide - 1)},
                                  .path_form = core::PathForm::kCorners};
      static_cast<void>(core::FindPath(snapshot->grid(), query, {}, scratch));
    }
  });
  Random random(4);
  InFlight in_flight;
  const auto pause = std::chrono::nanoseconds(std::chrono::seconds(1)) / kChangesPerSecond;
  for (Clock::time_point next = begin; next < begin + kPhase; next += 10 * pause) {
    std::this_thread::sleep_until(next);
    for (int i = 0; i < 10; ++i) {
      UpdateLater(maps.store(), random, in_flight, kInFlight);
    }
  }
  stop = true;
  reader.join();
  const std::chrono::duration<double> elapsed = Clock::now() - begin;
  in_flight.WaitForAll();
  return static_cast<double>(queries) / elapsed.count();
}

// Fills a folder by `fill`, and prints how long a start with it takes.
template <typename Fill>
void PrintStart(const std::string& name, const std::string& folder, Fill fill) {
  {
    Maps maps(folder);
    fill(maps.store());
  }
  std::unique_ptr<Maps> maps;
  const double micros = MicrosOf([&] { maps = std::make_unique<Maps>(folder); });
  std::cout << absl::StreamFormat(
      "Start with %-28s %6.2f s  (%d maps of %.0f MiB, %d commits)\n", name, micros / 1e6, maps->found().maps,
      static_cast<double>(maps->store().MeasureMemory().total()) / (1 << 20), maps->found().commits);
}

void PrintStarts(const std::string& folder) {
  PrintStart("1,000 maps of 256 x 256", absl::StrCat(folder, "/many"), [](core::MapStore& store) {
    for (int i = 0; i < 1000; ++i) {
      OrDie(store.Create(absl::StrCat("map-", i), NoiseMap(256, 0.1), absl::Now()).status());
    }
  });
  PrintStart("one map of 8192 x 8192", absl::StrCat(folder, "/large"), [](core::MapStore& store) {
    OrDie(store.Create(kMap, NoiseMap(8192, 0.1), absl::Now()).status());
  });
  PrintStart("a log of a million commits", absl::StrCat(folder, "/long"), [](core::MapStore& store) {
    OrDie(store.Create(kMap, NoiseMap(kSide, 0.1), absl::Now()).status());
    Random random(6);
    InFlight in_flight;
    for (int i = 0; i < 1'000'000; ++i) {
      UpdateLater(store, random, in_flight, kInFlight);
    }
    in_flight.WaitForAll();
  });
  PrintStart("50 paintings of 8192 x 8192", absl::StrCat(folder, "/painted"), [](core::MapStore& store) {
    OrDie(store.Create(kMap, NoiseMap(8192, 0.1), absl::Now()).status());
    for (int i = 0; i < 50; ++i) {
      const core::Shape all{.rectangles = {{0, 0, 8192, 8192}}};
      const core::Edit edit =
          i % 2 == 0 ? core::Edit(core::BlockCells{all}) : core::Edit(core::UnblockCells{all});
      OrDie(store.UpdateAndWait(kMap, {.edits = {edit}}).status());
    }
  });
}

void Main() {
  std::string folder = absl::GetFlag(FLAGS_folder);
  if (folder.empty()) {
    folder = absl::StrCat(std::filesystem::temp_directory_path().string(), "/waystar-durable-", getpid());
  }
  std::filesystem::create_directories(folder);
  const int rounds = absl::GetFlag(FLAGS_rounds);
  {
    Maps in_memory;
    Maps durable(absl::StrCat(folder, "/updates"));
    for (Maps* const maps : {&in_memory, &durable}) {
      OrDie(maps->store().Create(kMap, NoiseMap(kSide, 0.1), absl::Now()).status());
    }
    PrintSingles(in_memory, durable, folder, rounds);
    Random random(2);
    PrintRates(absl::StrCat(kInFlight, " updates of one cell in flight"), in_memory, durable, rounds,
               [&](Maps& maps) { return UpdatesPerSecond(maps, random); });
    PrintRates(absl::StrCat("Queries beside ", kChangesPerSecond, " changes a second"), in_memory, durable,
               rounds, QueriesPerSecond);
  }
  if (absl::GetFlag(FLAGS_starts)) {
    PrintStarts(folder);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace waystar::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  waystar::bench::Main();
  return 0;
}
