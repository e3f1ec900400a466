// Jobs that wait for a worker, taken in turns from those who sent them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"

namespace waystar::runtime {

// Runs once on a worker, or is turned away.
class Job {
 public:
  virtual ~Job() = default;
  // Called once, on the thread of that index, unless Refuse is. The job may delete itself.
  virtual void Run(int worker) = 0;
  // Called instead of Run, on any thread, with what to tell whoever waits. The job may delete itself.
  virtual void Refuse(const absl::Status& status) = 0;
};

// Who sent a job and what it is about, as hashes of their names.
struct Flow {
  std::uint64_t client = 0;
  std::uint64_t map = 0;
};

// Clients take turns, and among the jobs of one client its maps; jobs of one client about one map leave in
// the order in which they came. So whoever sends little waits for one turn of each other client and no more,
// however much they send. Source: J. Nagle, "On Packet Switches with Infinite Storage", 1987; making room at
// the cost of the longest line: P. McKenney, "Stochastic Fairness Queueing", 1990.
//
// All operations cost O(1), but for DropFromLongest. Thread safety: none.
class FairQueue {
 public:
  using Clock = std::chrono::steady_clock;

  struct Entry {
    Job* job = nullptr;
    Clock::time_point since;
  };

  void Push(const Flow& flow, const Entry& entry);

  // The next to run. REQUIRES: !empty().
  Entry Pop();

  // Makes room for a job of that client: takes out the last job of the client of whom most wait, from the
  // longest of its lines. Null if none has more waiting than the client itself, who then has to stand back.
  // Costs a look at each client and, of one client, at each map with jobs that wait.
  Job* DropFromLongest(std::uint64_t newcomer);

  // How many jobs may leave before one that is added to this line now, if no others come. Costs a look at
  // each client, and at each map of this one.
  std::size_t AheadOf(const Flow& flow) const;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  struct MapLine {
    std::uint64_t map;
    std::list<Entry> entries;
  };
  using MapLines = std::list<MapLine>;

  // Lists, so that a line keeps its place in memory while it moves to the end of the ring.
  struct ClientLine {
    std::uint64_t client;
    std::size_t size = 0;
    MapLines ring;
    absl::flat_hash_map<std::uint64_t, MapLines::iterator> maps;
  };
  using ClientLines = std::list<ClientLine>;

  static void EraseIfEmpty(ClientLine& line, MapLines::iterator map);
  void CountOut(ClientLines::iterator client);

  std::size_t size_ = 0;
  // Whose turn it is stands first. No line is empty.
  ClientLines ring_;
  absl::flat_hash_map<std::uint64_t, ClientLines::iterator> clients_;
};

}  // namespace waystar::runtime
