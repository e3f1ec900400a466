#include "server/core/grid/hierarchy/contraction.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace waystar::core {
namespace {

using NodeId = std::uint32_t;

// Searches for paths around a node that is to be contracted (witnesses).
class WitnessSearch {
 public:
  WitnessSearch(const Graph& graph, const TautTurns& turns)
      : graph_(graph), turns_(turns), known_(graph.arcs.size()) {}

  // Settles nodes around `from`, never `without`, until `max_settled` nodes, all nodes within `radius`, or
  // `targets` marked nodes are settled.
  void Run(NodeId from, NodeId without, Cost radius, int max_settled, int targets) {
    Forget();
    Reach(from, 0, kNoSector);
    int settled = 0;
    while (!open_.empty() && settled < max_settled) {
      std::pop_heap(open_.begin(), open_.end(), std::greater<>());
      const auto [cost, node] = open_.back();
      open_.pop_back();
      if (cost > known_[node].cost) {
        continue;
      }
      ++settled;
      if (marks_generation_ == known_[node].marked && --targets == 0) {
        return;
      }
      const Sector arrival = known_[node].arrival;
      const SectorSet onward = arrival == kNoSector ? static_cast<SectorSet>(~0U)
                                                    : turns_.Onward(graph_.surroundings[node], arrival);
      steps_ += graph_.arcs[node].size();
      for (const GraphArc& arc : graph_.arcs[node]) {
        if ((onward >> arc.leaves & 1U) != 0 && cost + arc.cost <= radius && arc.to != without) {
          Reach(arc.to, cost + arc.cost, static_cast<Sector>(arc.arrives));
        }
      }
    }
  }

  void ForgetMarks() { ++marks_generation_; }
  void Mark(NodeId node) { known_[node].marked = marks_generation_; }

  // Returns true if a path of at most that cost from the start of Run was found.
  bool Finds(NodeId node, Cost cost) const {
    return known_[node].generation == generation_ && known_[node].cost <= cost;
  }

  std::uint64_t steps() const { return steps_; }

 private:
  struct Known {
    Cost cost = 0;
    std::uint32_t generation = 0;
    std::uint32_t marked = 0;
    Sector arrival = kNoSector;
  };

  void Forget() {
    open_.clear();
    ++generation_;
  }

  void Reach(NodeId node, Cost cost, Sector arrival) {
    Known& known = known_[node];
    if (known.generation == generation_ && known.cost <= cost) {
      return;
    }
    known.generation = generation_;
    known.cost = cost;
    known.arrival = arrival;
    open_.emplace_back(cost, node);
    std::push_heap(open_.begin(), open_.end(), std::greater<>());
  }

  static constexpr Sector kNoSector = kSectorCount;

  const Graph& graph_;
  const TautTurns& turns_;
  std::vector<Known> known_;
  std::vector<std::pair<Cost, NodeId>> open_;
  std::uint32_t generation_ = 0;
  std::uint32_t marks_generation_ = 0;
  std::uint64_t steps_ = 0;
};

class Contractor {
 public:
  Contractor(const ContractionLimits& limits, const TautTurns& turns, Graph& graph)
      : limits_(limits),
        turns_(turns),
        graph_(graph),
        witnesses_(graph, turns),
        levels_(graph.arcs.size(), 0) {
    for (const std::vector<GraphArc>& arcs : graph.arcs) {
      arcs_ += arcs.size();
    }
    arcs_ /= 2;
  }

  absl::StatusOr<Contraction> Run() {
    std::vector<NodeId> order;
    order.reserve(graph_.arcs.size());
    std::vector<bool> is_contracted(graph_.arcs.size());
    for (NodeId node = 0; node < graph_.arcs.size() && HasStepsLeft(); ++node) {
      queue_.emplace(PriorityOf(node), node);
      if (const absl::Status status = Check(); !status.ok()) {
        return status;
      }
    }
    while (!queue_.empty() && HasStepsLeft()) {
      const NodeId node = queue_.top().second;
      queue_.pop();
      const std::uint64_t priority = PriorityOf(node);
      if (!queue_.empty() && priority > queue_.top().first) {
        queue_.emplace(priority, node);
      } else {
        Take(node);
        order.push_back(node);
        is_contracted[node] = true;
      }
      if (const absl::Status status = Check(); !status.ok()) {
        return status;
      }
    }
    const std::size_t contracted = order.size();
    for (NodeId node = 0; node < graph_.arcs.size(); ++node) {
      if (!is_contracted[node]) {
        order.push_back(node);
      }
    }
    return Contraction{.order = std::move(order), .contracted = contracted};
  }

 private:
  struct Shortcut {
    NodeId from;
    GraphArc arc;
  };

  absl::Status Check() const {
    if (limits_.cancelled != nullptr && limits_.cancelled->load(std::memory_order_relaxed)) {
      return absl::CancelledError("contraction cancelled");
    }
    if (arcs_ > limits_.max_arcs) {
      return absl::ResourceExhaustedError("contraction needs too many arcs");
    }
    return absl::OkStatus();
  }

  bool HasStepsLeft() const { return witnesses_.steps() + pairs_ / kPairsPerStep < limits_.max_steps; }

  // Computes shortcuts_, which contracting the node requires. Returns its priority, lowest first: nodes with
  // few shortcuts per removed arc, evenly spread over the map.
  std::uint64_t PriorityOf(NodeId node) {
    FindShortcuts(node);
    const std::uint64_t degree = graph_.arcs[node].size();
    return std::uint64_t{kLevelWeight} * levels_[node] +
           (kShortcutWeight * shortcuts_.size()) / std::max<std::uint64_t>(degree, 1);
  }

  void FindShortcuts(NodeId node) {
    shortcuts_.clear();
    const std::vector<GraphArc>& arcs = graph_.arcs[node];
    for (std::size_t i = 0; i + 1 < arcs.size(); ++i) {
      const GraphArc& in = arcs[i];
      const SectorSet onward = turns_.Onward(graph_.surroundings[node], static_cast<Sector>(in.leaves));
      pairs_ += arcs.size() - i;
      Cost radius = 0;
      int targets = 0;
      witnesses_.ForgetMarks();
      for (std::size_t j = i + 1; j < arcs.size(); ++j) {
        if ((onward >> arcs[j].leaves & 1U) != 0) {
          radius = std::max(radius, in.cost + arcs[j].cost);
          witnesses_.Mark(arcs[j].to);
          ++targets;
        }
      }
      if (targets == 0) {
        continue;
      }
      witnesses_.Run(in.to, node, radius, kMaxSettled, targets);
      for (std::size_t j = i + 1; j < arcs.size(); ++j) {
        const GraphArc& out = arcs[j];
        const Cost cost = in.cost + out.cost;
        if ((onward >> out.leaves & 1U) != 0 && !witnesses_.Finds(out.to, cost)) {
          shortcuts_.push_back({.from = in.to,
                                .arc = {.cost = cost,
                                        .to = out.to,
                                        .leaves = in.arrives,
                                        .middle = node & kNodeMask,
                                        .arrives = out.arrives}});
        }
      }
    }
  }

  // Contracts the node, whose shortcuts were just computed.
  void Take(NodeId node) {
    for (const GraphArc& arc : graph_.arcs[node]) {
      std::vector<GraphArc>& back = graph_.arcs[arc.to];
      back.erase(std::find_if(back.begin(), back.end(), [&](const GraphArc& a) { return a.to == node; }));
      levels_[arc.to] = std::max(levels_[arc.to], levels_[node] + 1);
    }
    for (const Shortcut& shortcut : shortcuts_) {
      GraphArc back = shortcut.arc;
      back.to = shortcut.from & kNodeMask;
      back.leaves = shortcut.arc.arrives;
      back.arrives = shortcut.arc.leaves;
      if (AddOrCheapen(shortcut.from, shortcut.arc)) {
        ++arcs_;
      }
      AddOrCheapen(shortcut.arc.to, back);
    }
    graph_.arcs[node].shrink_to_fit();
  }

  // Adds an arc, or replaces the one to the same node. Returns true if it was added.
  bool AddOrCheapen(NodeId from, const GraphArc& arc) {
    for (GraphArc& known : graph_.arcs[from]) {
      if (known.to == arc.to) {
        known = arc;
        return false;
      }
    }
    graph_.arcs[from].push_back(arc);
    return true;
  }

  // Maximum nodes settled by a witness search. Four times as many take twice as long and save 2 % of the
  // arcs.
  static constexpr int kMaxSettled = 10;
  // Number of pairs of arcs that can be checked in the time of a search step.
  static constexpr std::uint64_t kPairsPerStep = 4;
  // Weights of a node's level, and of a shortcut per removed arc. A greater weight of the level gives flatter
  // hierarchies, which answer no faster.
  static constexpr unsigned kLevelWeight = 150;
  static constexpr std::size_t kShortcutWeight = 1000;

  using Entry = std::pair<std::uint64_t, NodeId>;

  const ContractionLimits& limits_;
  const TautTurns& turns_;
  Graph& graph_;
  WitnessSearch witnesses_;
  std::vector<std::uint32_t> levels_;
  std::vector<Shortcut> shortcuts_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  std::size_t arcs_ = 0;
  std::uint64_t pairs_ = 0;
};

}  // namespace

absl::StatusOr<Contraction> Contract(const ContractionLimits& limits, const TautTurns& turns, Graph& graph) {
  return Contractor(limits, turns, graph).Run();
}

}  // namespace waystar::core
