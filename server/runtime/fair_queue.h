// A fair queue of jobs that wait for a worker, which shares the workers' time among the clients.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <optional>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
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

// Each client that has jobs gets as much of the workers' time as any other, however many jobs it sends and
// however long they take. A client that asks for less than its share waits for the job of one other at most,
// and loses no place in a full queue to clients that ask for more. Among the jobs of one client its maps take
// turns; jobs of one client about one map leave in the order in which they came.
//
// Time is counted by what jobs were measured to take. Until then a job counts as what its client's took
// before. Sources: P. Goyal, H. Vin, H. Cheng, "Start-time Fair Queuing", 1996; making room at the cost of
// whoever is most ahead: P. McKenney, "Stochastic Fairness Queueing", 1990.
//
// Costs O(log n) for n clients with jobs, except DropFromGreediest and AheadOf. Thread safety: none.
class FairQueue {
 public:
  using Clock = std::chrono::steady_clock;

  struct Entry {
    Job* job = nullptr;
    Clock::time_point since;
    // Nobody waits for the job's answer from then on.
    Clock::time_point deadline = Clock::time_point::max();
    // The job is not refused, however long it waits.
    bool is_owed = false;
  };

  // A job that left the queue to run, with what its client was charged for it.
  struct Popped {
    Entry entry;
    std::uint64_t client = 0;
    double charged = 0.0;
  };

  void Push(const Flow& flow, const Entry& entry);

  // Returns the next job to run. REQUIRES: !empty().
  Popped Pop() { return Pop(NextClient()); }
  // Returns the next job of the client. Those who are passed over keep their turns. REQUIRES:
  // HasJobs(client).
  Popped Pop(std::uint64_t client);

  // Charges the client of a job that still runs at least what it took so far.
  void ChargeSoFar(Popped& popped, std::chrono::nanoseconds took);
  // Charges the client of a job that ran what it took in place of what was charged. A job that leaves the
  // queue and is not settled stays charged as assumed.
  void Settle(const Popped& popped, std::chrono::nanoseconds took);
  // Charges it nothing, as the job was refused.
  void Forgive(const Popped& popped);

  // Makes room for a job of that client: takes out the last job of the client whose last job is due latest,
  // from the longest of its lines. Returns null if the newcomer's job would be due no earlier than that, or
  // that job is owed, so that the newcomer's must be refused. It costs a look at each client and, of one
  // client, at each map with jobs that wait.
  Job* DropFromGreediest(std::uint64_t newcomer);

  // Returns how many jobs may leave before one that is added to this line now, if no others come. It costs a
  // look at each client, and at each map of this one.
  std::size_t AheadOf(const Flow& flow) const;

  // Takes out the jobs for which `is_over(entry, due, is_next)` holds. `due` is when the client's next job is
  // due, and `is_next` says whether the entry is that job. It costs a look at each job.
  template <typename Predicate>
  void RemoveIf(Predicate is_over);

  // All in the time that each client with jobs has had, in nanoseconds: see Account::due.
  double now() const { return now_; }
  // Returns when a client's next job is due or would be.
  double DueOf(std::uint64_t client) const;
  // Returns what a job of the client typically takes.
  double CostOf(std::uint64_t client) const;
  bool HasJobs(std::uint64_t client) const;
  // Returns the client whose job is next. REQUIRES: !empty().
  std::uint64_t NextClient() const { return order_.begin()->client; }
  // Returns the first client by turns with `may_have(client)`, if there is one. It costs a look at each
  // client before.
  template <typename Predicate>
  std::optional<std::uint64_t> NextClientIf(Predicate may_have) const {
    const auto turn = std::ranges::find_if(order_, may_have, &Turn::client);
    return turn == order_.end() ? std::nullopt : std::optional(turn->client);
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  struct MapLine {
    std::uint64_t map;
    std::list<Entry> entries;
  };
  using MapLines = std::list<MapLine>;

  // A client with jobs that wait, or that has had more time than its share lately.
  struct Account {
    // In virtual time, which is the time that each client with jobs has had. The next job is due then.
    double due = 0.0;
    // What a job of the client typically takes; 0 while that is not known.
    double typical = 0.0;
    // The place of `due` among equals.
    std::uint64_t order = 0;
    std::size_t size = 0;
    // The map whose turn it is comes first. The lines are lists, so that a line keeps its place in memory
    // while it moves to the end. No line is empty.
    MapLines ring;
    absl::flat_hash_map<std::uint64_t, MapLines::iterator> maps;
  };
  using Accounts = absl::node_hash_map<std::uint64_t, Account>;

  struct Turn {
    double due;
    std::uint64_t order;
    std::uint64_t client;
    auto operator<=>(const Turn& other) const = default;
  };

  static Turn TurnOf(const Accounts::value_type& account) {
    return {account.second.due, account.second.order, account.first};
  }
  double CostOf(const Account& account) const { return account.typical > 0 ? account.typical : typical_; }
  // When a job that the client adds now would be due.
  double DueOfNext(std::uint64_t client) const;
  void TakeTurn(Accounts::value_type& account);
  static void EraseIfEmpty(Account& account, MapLines::iterator map);
  void Charge(std::uint64_t client, double more);
  void ForgetSettled();

  std::size_t size_ = 0;
  // When the last job that left was due.
  double now_ = 0.0;
  double typical_ = 1.0;
  std::uint64_t turns_ = 0;
  Accounts accounts_;
  std::size_t forget_at_ = 64;
  // Of clients with jobs.
  std::set<Turn> order_;
};

template <typename Predicate>
void FairQueue::RemoveIf(Predicate is_over) {
  for (auto turn = order_.begin(); turn != order_.end();) {
    Account& account = accounts_.find(turn->client)->second;
    bool is_next = true;
    for (auto map = account.ring.begin(); map != account.ring.end();) {
      const std::size_t removed = map->entries.remove_if(
          [&](const Entry& entry) { return is_over(entry, account.due, std::exchange(is_next, false)); });
      account.size -= removed;
      size_ -= removed;
      EraseIfEmpty(account, map++);
    }
    turn = account.size == 0 ? order_.erase(turn) : std::next(turn);
  }
}

}  // namespace waystar::runtime
