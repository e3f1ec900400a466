// Fair queue of jobs that wait for a worker. It shares the workers' time among clients.
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

#include "absl/container/node_hash_map.h"
#include "absl/status/status.h"

namespace waystar::runtime {

// A job, which runs once on a worker or is refused.
class Job {
 public:
  virtual ~Job() = default;
  // Called once, on the worker with that index, unless Refuse is called. The job may delete itself.
  virtual void Run(int worker) = 0;
  // Called instead of Run, on any thread, with the status to answer. The job may delete itself.
  virtual void Refuse(const absl::Status& status) = 0;
};

// The client that sent a job and the map it uses, as hashes of their names.
struct Flow {
  std::uint64_t client = 0;
  std::uint64_t map = 0;
};

// Each client with jobs gets the same share of the workers' time, however many jobs it sends and however long
// they take. A client that asks for less than its share waits for at most one job of another client, and is
// not displaced from a full queue by clients that ask for more. Within a client, its maps take turns; jobs of
// one client and map are FIFO.
//
// Time is charged as measured. Until it is measured, a job is charged the client's typical cost. Sources: P.
// Goyal, H. Vin, H. Cheng, "Start-time Fair Queuing", 1996; dropping from the client that is most ahead: P.
// McKenney, "Stochastic Fairness Queueing", 1990.
//
// Costs O(log n + m) for n clients with jobs and m maps of one of them, except DropFromGreediest, AheadOf,
// NextClientIf and RemoveIf.
//
// Thread safety: none.
class FairQueue {
 public:
  using Clock = std::chrono::steady_clock;

  struct Entry {
    Job* job = nullptr;
    Clock::time_point since;
    // Time after which nobody waits for the answer.
    Clock::time_point deadline = Clock::time_point::max();
    // If true, the job is never refused for its waiting time.
    bool is_owed = false;
  };

  // A job taken from the queue to run, and the cost charged for it.
  struct Popped {
    Entry entry;
    std::uint64_t client = 0;
    double charged = 0.0;
  };

  void Push(const Flow& flow, const Entry& entry);

  // Takes the next job.
  // REQUIRES: !empty().
  Popped Pop() { return Pop(NextClient()); }
  // Takes the next job of a client. Clients passed over keep their turns.
  // REQUIRES: HasJobs(client).
  Popped Pop(std::uint64_t client);

  // Raises the charge of a running job to the time it took so far.
  void ChargeSoFar(Popped& popped, std::chrono::nanoseconds took);
  // Replaces the charge of a finished job by the time it took. A job that is never settled stays charged as
  // assumed.
  void Settle(const Popped& popped, std::chrono::nanoseconds took);
  // Cancels the charge of a job that was refused.
  void Forgive(const Popped& popped);

  // Makes room for a job of `newcomer`: removes the last job, in the longest map line, of the client whose
  // last job is due latest. Returns null if the newcomer's job would be due no earlier than that, or if that
  // job is owed; then the newcomer's must be refused. Costs O(clients + maps of one client).
  Job* DropFromGreediest(std::uint64_t newcomer);

  // Returns how many jobs would leave before one that is added to this flow now, if no others come. Costs
  // O(clients + maps of this one).
  std::size_t AheadOf(const Flow& flow) const;

  // Removes the jobs for which `is_over(entry, due, is_next)` is true. `due` is the virtual time at which the
  // client's next job is due; `is_next` is true if the entry is that job. Costs O(jobs).
  template <typename Predicate>
  void RemoveIf(Predicate is_over);

  // Returns the virtual time in nanoseconds: the time that each client with jobs has had (Account::due).
  double now() const { return now_; }
  // Returns the virtual time at which a client's next job is or would be due.
  double DueOf(std::uint64_t client) const;
  // Returns the typical cost of a client's job in nanoseconds.
  double CostOf(std::uint64_t client) const;
  bool HasJobs(std::uint64_t client) const;
  // Returns the client of the next job.
  // REQUIRES: !empty().
  std::uint64_t NextClient() const { return order_.begin()->client; }
  // Returns the first client in turn with `may_have(client)`; nullopt if there is none. Costs O(clients
  // before it).
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

  // A client with waiting jobs, or one that recently had more than its share.
  struct Account {
    // Virtual time at which the next job is due.
    double due = 0.0;
    // Typical cost of a job in nanoseconds; 0 if unknown.
    double typical = 0.0;
    // Order among accounts with equal `due`.
    std::uint64_t order = 0;
    std::size_t size = 0;
    // Lines of waiting jobs by map, next turn first; none is empty.
    std::list<MapLine> ring;
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
  // Returns the virtual time at which a job added now would be due.
  double DueOfNext(std::uint64_t client) const;
  void TakeTurn(Accounts::value_type& account);
  void Charge(std::uint64_t client, double more);
  void ForgetSettled();

  std::size_t size_ = 0;
  // Virtual time: when the last job that left was due.
  double now_ = 0.0;
  double typical_ = 1.0;
  std::uint64_t turns_ = 0;
  Accounts accounts_;
  std::size_t forget_at_ = 64;
  // Clients with jobs, in turn.
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
      map = map->entries.empty() ? account.ring.erase(map) : std::next(map);
    }
    turn = account.size == 0 ? order_.erase(turn) : std::next(turn);
  }
}

}  // namespace waystar::runtime
