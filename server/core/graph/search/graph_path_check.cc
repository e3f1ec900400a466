#include "server/core/graph/search/graph_path_check.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/elements/tags.h"
#include "server/core/elements/waypoint.h"
#include "server/core/graph/search/graph_ray.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

class GraphPathValidator {
 public:
  GraphPathValidator(const WaypointGraph& graph, const GraphPathToCheck& path, const Budget& budget)
      : graph_(graph),
        path_(path),
        budget_(budget),
        // If the graph does not know a tag, no edge carries it: require all bits, which no edge has.
        tags_(graph.FindTags(path.required_tags).value_or(~TagSet{0})) {}

  absl::StatusOr<GraphPathCheck> Run() {
    WAYSTAR_RETURN_IF_ERROR(CheckArguments());
    if (path_.nodes.empty()) {
      if (!Walk(*path_.start, *path_.goal)) {
        BlockAt(0);
      }
      return Result();
    }
    NodeNumber last = kNoNodeNumber;
    for (std::size_t i = 0; i < path_.nodes.size(); ++i) {
      if (i % Budget::kPollInterval == 0) {
        if (const std::optional<SearchEnd> end = Interruption(budget_)) {
          return InterruptionError(*end, 0);
        }
      }
      const NodeNumber node = graph_.FindNode(path_.nodes[i]);
      if (node == kNoNodeNumber) {
        WAYSTAR_RETURN_IF_ERROR_AT(IndexedField("nodes", i), CheckNodeId(path_.nodes[i]));
      }
      if (is_walkable_ && !Enter(last, node)) {
        BlockAt(i);
      }
      last = node;
    }
    if (is_walkable_ && path_.goal && !Walk(graph_.PositionOf(last), Rounded(*path_.goal))) {
      BlockAt(path_.nodes.size());
    }
    return Result();
  }

 private:
  absl::Status CheckArguments() const {
    WAYSTAR_RETURN_IF_ERROR_AT("agent.profile.required_tags",
                               CheckTags(path_.required_tags, ErrorReason::kBadProfile));
    for (const auto& [position, field] :
         {std::pair(&path_.start, "start.position"), {&path_.goal, "goal.position"}}) {
      if (*position) {
        WAYSTAR_RETURN_IF_ERROR_AT(field, CheckPosition(**position));
      }
    }
    if (path_.nodes.empty() && !(path_.start && path_.goal)) {
      return MakeError(ErrorReason::kMissingField, "nodes",
                       "a path has at least one node, unless it has a start and a goal");
    }
    if (path_.nodes.size() > kMaxValidatedNodes) {
      return MakeError(ErrorReason::kPathTooLong, "nodes",
                       absl::StrCat("a path to validate may have at most ", kMaxValidatedNodes,
                                    " nodes, got ", path_.nodes.size()));
    }
    return absl::OkStatus();
  }

  // Follow the path to a node or along a line: add the cost, or return false if it is blocked.
  bool Enter(NodeNumber last, NodeNumber node) {
    if (node == kNoNodeNumber || !graph_.IsEnabled(node)) {
      return false;
    }
    if (last != kNoNodeNumber) {
      return Pass(last, node);
    }
    return !path_.start || Walk(Rounded(*path_.start), graph_.PositionOf(node));
  }

  bool Pass(NodeNumber from, NodeNumber to) {
    const WorldPoint& a = graph_.PositionOf(from);
    const WorldPoint& b = graph_.PositionOf(to);
    const Arc* arc = graph_.FindArc(from, to);
    if (arc == nullptr) {
      // The missing arc can only have been an automatic one.
      const std::optional<double> limit = graph_.max_distance();
      if (limit && SquaredDistance(a, b) <= *limit * *limit && !graph_.sight().IsClear(a, b)) {
        obstacle_ = FirstObstacle(a, b);
      }
      return false;
    }
    if (!arc->is_open()) {
      if ((arc->flags & Arc::kBlocked) != 0 && (arc->flags & Arc::kEnabled) != 0) {
        obstacle_ = CastRayAtObstacles(graph_.sight(), a, b).obstacle;
      }
      return false;
    }
    if ((graph_.TagsOfArc(from, *arc) & tags_) != tags_) {
      return false;
    }
    cost_ += arc->cost;
    return true;
  }

  bool Walk(const WorldPoint& from, const WorldPoint& to) {
    if (!graph_.sight().IsClear(from, to)) {
      obstacle_ = FirstObstacle(from, to);
      return false;
    }
    cost_ += CostFromDouble(Distance(from, to));
    return true;
  }

  // REQUIRES: the positions are in range.
  std::string FirstObstacle(const WorldPoint& from, const WorldPoint& to) const {
    const absl::StatusOr<GraphRayHit> hit = CastGraphRay(graph_, from, to);
    return hit.ok() ? hit->obstacle : std::string();
  }

  void BlockAt(std::size_t index) {
    is_walkable_ = false;
    blocked_index_ = index;
  }

  GraphPathCheck Result() const {
    GraphPathCheck check{.is_walkable = is_walkable_, .cost = CostToDouble(cost_)};
    if (!is_walkable_) {
      check.blocked_index = blocked_index_;
      check.blocked_node = blocked_index_ < path_.nodes.size() ? path_.nodes[blocked_index_] : "";
      check.obstacle = obstacle_;
    }
    return check;
  }

  const WaypointGraph& graph_;
  const GraphPathToCheck& path_;
  const Budget& budget_;
  const TagSet tags_;
  bool is_walkable_ = true;
  std::size_t blocked_index_ = 0;
  std::string obstacle_;
  Cost cost_ = 0;
};

}  // namespace

absl::StatusOr<GraphPathCheck> ValidateGraphPath(const WaypointGraph& graph, const GraphPathToCheck& path,
                                                 const Budget& budget) {
  return GraphPathValidator(graph, path, budget).Run();
}

}  // namespace waystar::core
