// A fair queue of jobs that wait for a worker, taken in turns from the clients that sent them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"

namespace waystar::runtime {

// A job, which runs once on a worker or is refused.
class Job {
 public:
  virtual ~Job() = default;
  // Called once, on the thread of that index, unless Refuse is. The job may delete itself.
  virtual void Run(int worker) = 0;
  // Called instead of Run, on any thread, with the status for whoever waits. The job may delete itself.
  virtual void Refuse(const absl::Status& status) = 0;
};

// The client that sent a job and the map that it is about, as hashes of their names.
struct Flow {
  std::uint64_t client = 0;
  std::uint64_t map = 0;
};

// Clients take turns, and among the jobs of one client its maps; jobs of one client about one map leave in
// the order in which they came. So a client that sends little waits for at most one turn of each other
// client, however much they send. Source: J. Nagle, "On Packet Switches with Infinite Storage", 1987; making
// room at the cost of the longest line: P. McKenney, "Stochastic Fairness Queueing", 1990.
//
// All operations cost O(1), except DropFromLongest and AheadOf. Thread safety: none.
class FairQueue {
 public:
  using Clock = std::chrono::steady_clock;

  struct Entry {
    Job* job = nullptr;
    Clock::time_point since;
  };

  void Push(const Flow& flow, const Entry& entry);

  // Returns the next job to run. REQUIRES: !empty().
  Entry Pop();

  // Makes room for a job of that client: takes out the last job of the client with most waiting jobs, from
  // the longest of its lines. Returns null if no client has more waiting than the newcomer itself, which must
  // then be refused. It costs a look at each client and, of one client, at each map with jobs that wait.
  Job* DropFromLongest(std::uint64_t newcomer);

  // Returns how many jobs may leave before one that is added to this line now, if no others come. It costs a
  // look at each client, and at each map of this one.
  std::size_t AheadOf(const Flow& flow) const;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  struct MapLine {
    std::uint64_t map;
    std::list<Entry> entries;
  };
  using MapLines = std::list<MapLine>;

  // The lines are lists, so that a line keeps its place in memory while it moves to the end of the ring.
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
  // The client whose turn it is comes first. No line is empty.
  ClientLines ring_;
  absl::flat_hash_map<std::uint64_t, ClientLines::iterator> clients_;
};

}  // namespace waystar::runtime
