#include "server/core/search/contraction.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace waystar::core {
namespace {

using NodeId = std::uint32_t;

// Looks for ways around a node that is to be contracted.
class WitnessSearch {
 public:
  explicit WitnessSearch(const Graph& graph) : graph_(graph), known_(graph.size()) {}

  // Settles nodes around `from`, never `without`, until `max_settled` are, or all within `radius`, or
  // `targets` of those that were marked.
  void Run(NodeId from, NodeId without, Cost radius, int max_settled, int targets) {
    Forget();
    Reach(from, 0);
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
      for (const GraphArc& arc : graph_[node]) {
        ++steps_;
        if (cost + arc.cost <= radius && arc.to != without) {
          Reach(arc.to, cost + arc.cost);
        }
      }
    }
  }

  void ForgetMarks() { ++marks_generation_; }
  void Mark(NodeId node) { known_[node].marked = marks_generation_; }

  // The cost of a way found from where Run started, not necessarily the cheapest.
  bool Finds(NodeId node, Cost cost) const {
    return known_[node].generation == generation_ && known_[node].cost <= cost;
  }

  std::uint64_t steps() const { return steps_; }

 private:
  struct Known {
    Cost cost = 0;
    std::uint32_t generation = 0;
    std::uint32_t marked = 0;
  };

  void Forget() {
    open_.clear();
    ++generation_;
  }

  void Reach(NodeId node, Cost cost) {
    Known& known = known_[node];
    if (known.generation == generation_ && known.cost <= cost) {
      return;
    }
    known.generation = generation_;
    known.cost = cost;
    open_.emplace_back(cost, node);
    std::push_heap(open_.begin(), open_.end(), std::greater<>());
  }

  const Graph& graph_;
  std::vector<Known> known_;
  std::vector<std::pair<Cost, NodeId>> open_;
  std::uint32_t generation_ = 0;
  std::uint32_t marks_generation_ = 0;
  std::uint64_t steps_ = 0;
};

class Contractor {
 public:
  Contractor(const ContractionLimits& limits, Graph& graph)
      : limits_(limits), graph_(graph), witnesses_(graph), levels_(graph.size(), 0) {
    for (const std::vector<GraphArc>& arcs : graph) {
      arcs_ += arcs.size();
    }
    arcs_ /= 2;
  }

  absl::Status Run(std::vector<NodeId>& order) {
    order.reserve(graph_.size());
    for (NodeId node = 0; node < graph_.size(); ++node) {
      queue_.emplace(PriorityOf(node), node);
      if (const absl::Status status = Check(); !status.ok()) {
        return status;
      }
    }
    while (!queue_.empty()) {
      const NodeId node = queue_.top().second;
      queue_.pop();
      const std::uint64_t priority = PriorityOf(node);
      if (!queue_.empty() && priority > queue_.top().first) {
        queue_.emplace(priority, node);
      } else {
        Take(node);
        order.push_back(node);
      }
      if (const absl::Status status = Check(); !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

 private:
  struct Shortcut {
    NodeId from;
    NodeId to;
    Cost cost;
  };

  absl::Status Check() const {
    if (limits_.cancelled != nullptr && limits_.cancelled->load(std::memory_order_relaxed)) {
      return absl::CancelledError("contraction cancelled");
    }
    if (arcs_ > limits_.max_arcs) {
      return absl::ResourceExhaustedError("contraction needs too many arcs");
    }
    if (witnesses_.steps() > limits_.max_steps) {
      return absl::ResourceExhaustedError("contraction needs too many steps");
    }
    return absl::OkStatus();
  }

  // Fills shortcuts_ with what contracting the node takes. Nodes of few shortcuts for the arcs they lose go
  // first, and evenly over the map.
  std::uint64_t PriorityOf(NodeId node) {
    FindShortcuts(node);
    const std::uint64_t degree = graph_[node].size();
    return std::uint64_t{kLevelWeight} * levels_[node] +
           (kShortcutWeight * shortcuts_.size()) / std::max<std::uint64_t>(degree, 1);
  }

  void FindShortcuts(NodeId node) {
    shortcuts_.clear();
    const std::vector<GraphArc>& arcs = graph_[node];
    for (std::size_t i = 0; i + 1 < arcs.size(); ++i) {
      Cost radius = 0;
      witnesses_.ForgetMarks();
      for (std::size_t j = i + 1; j < arcs.size(); ++j) {
        radius = std::max(radius, arcs[i].cost + arcs[j].cost);
        witnesses_.Mark(arcs[j].to);
      }
      witnesses_.Run(arcs[i].to, node, radius, kMaxSettled, static_cast<int>(arcs.size() - i - 1));
      for (std::size_t j = i + 1; j < arcs.size(); ++j) {
        const Cost cost = arcs[i].cost + arcs[j].cost;
        if (!witnesses_.Finds(arcs[j].to, cost)) {
          shortcuts_.push_back({arcs[i].to, arcs[j].to, cost});
        }
      }
    }
  }

  // Contracts the node, whose shortcuts were just found.
  void Take(NodeId node) {
    for (const GraphArc& arc : graph_[node]) {
      std::vector<GraphArc>& back = graph_[arc.to];
      back.erase(std::find_if(back.begin(), back.end(), [&](const GraphArc& a) { return a.to == node; }));
      levels_[arc.to] = std::max(levels_[arc.to], levels_[node] + 1);
    }
    for (const Shortcut& shortcut : shortcuts_) {
      if (AddOrCheapen(shortcut.from, {shortcut.cost, shortcut.to, node})) {
        ++arcs_;
      }
      AddOrCheapen(shortcut.to, {shortcut.cost, shortcut.from, node});
    }
    graph_[node].shrink_to_fit();
  }

  // Whether there was none to that node before.
  bool AddOrCheapen(NodeId from, const GraphArc& arc) {
    for (GraphArc& known : graph_[from]) {
      if (known.to == arc.to) {
        known = arc;
        return false;
      }
    }
    graph_[from].push_back(arc);
    return true;
  }

  static constexpr int kMaxSettled = 40;
  static constexpr unsigned kLevelWeight = 1000;
  static constexpr std::size_t kShortcutWeight = 1000;

  using Entry = std::pair<std::uint64_t, NodeId>;

  const ContractionLimits& limits_;
  Graph& graph_;
  WitnessSearch witnesses_;
  std::vector<std::uint32_t> levels_;
  std::vector<Shortcut> shortcuts_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  std::size_t arcs_ = 0;
};

}  // namespace

absl::Status Contract(const ContractionLimits& limits, Graph& graph, std::vector<std::uint32_t>& order) {
  return Contractor(limits, graph).Run(order);
}

}  // namespace waystar::core
