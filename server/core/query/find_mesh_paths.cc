#include "server/core/query/find_mesh_paths.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "server/core/mesh/search/one_to_many.h"
#include "server/core/query/hub_groups.h"
#include "server/core/query/solve.h"
#include "server/core/search/checks.h"

namespace waystar::core {
namespace {

// A start or goal of several queries with the same snap.
struct MeshHub {
  HubEnd end = HubEnd::kStart;
  WorldPoint position;
  MeshSnap snap;

  friend bool operator==(const MeshHub& a, const MeshHub& b) {
    return a.end == b.end && a.position == b.position && a.snap.radius == b.snap.radius &&
           a.snap.height == b.snap.height;
  }
  template <typename H>
  friend H AbslHashValue(H h, const MeshHub& hub) {
    return H::combine(std::move(h), hub.end, hub.position.x, hub.position.y, hub.position.z, hub.snap.radius,
                      hub.snap.height);
  }
};

class MeshPathsFinder {
 public:
  MeshPathsFinder(const NavMesh& mesh, absl::Span<const MeshPathTask> tasks, const Budget& budget,
                  MeshScratch& scratch, MeshPathSink sink)
      : mesh_(mesh), tasks_(tasks), budget_(budget), scratch_(scratch), sink_(sink) {}

  absl::Status AnswerAlone(std::size_t task) {
    const Clock::time_point begin = Clock::now();
    Budget own = budget_;
    own.max_expansions = std::min(own.max_expansions, tasks_[task].max_expansions);
    own.max_cost = tasks_[task].max_cost;
    const absl::StatusOr<MeshPathResult> answer = FindMeshPath(mesh_, *tasks_[task].query, own, scratch_);
    last_expanded_ = answer.ok() ? answer->statistics.expanded : 0;
    return EndsAll(answer.status()) ? answer.status() : sink_(task, answer, Clock::now() - begin);
  }

  absl::Status AnswerGroup(const HubGroups<MeshHub>::Group& group) {
    // A single search could be an unusually short one.
    constexpr std::size_t kProbes = 4;
    const absl::Span<const std::size_t> members = group.members;
    std::uint64_t expanded = 0;
    for (const std::size_t probe : members.first(kProbes)) {
      WAYSTAR_RETURN_IF_ERROR(AnswerAlone(probe));
      expanded += last_expanded_;
    }
    const absl::Span<const std::size_t> rest = members.subspan(kProbes);
    // How far a flood must go is not known before. One that is given up adds half as much work.
    return FloodFrom(group.hub, rest, expanded * rest.size() / kProbes / 2);
  }

 private:
  using Clock = std::chrono::steady_clock;

  absl::Status FloodFrom(const MeshHub& hub, absl::Span<const std::size_t> members,
                         std::uint64_t max_expansions) {
    // The first answer is charged with the time of the flood.
    Clock::time_point begin = Clock::now();
    const std::optional<MeshPlace> place = FindMeshPlace(mesh_, hub.position, hub.snap);
    std::vector<std::size_t> sought;
    std::vector<MeshPlace> others;
    std::vector<std::size_t> alone;
    for (const std::size_t member : members) {
      const MeshQuery& query = *tasks_[member].query;
      const std::optional<MeshPlace> other =
          FindMeshPlace(mesh_, hub.end == HubEnd::kStart ? query.goals.front() : query.start, query.snap);
      if (place && other) {
        sought.push_back(member);
        others.push_back(*other);
      } else {
        alone.push_back(member);
      }
    }
    absl::Status status;
    const auto take = [&](std::size_t other, const MeshSearchReport& report) {
      if (!status.ok()) {
        return;
      }
      status = StatusOfEnd(report.end, report.statistics.expanded);
      if (status.ok()) {
        const Clock::time_point now = Clock::now();
        status = sink_(sought[other], PathResultOf(report), now - std::exchange(begin, now));
      }
    };
    const SearchEnd end =
        place ? SearchOneToMany(mesh_, *place, hub.end, others, max_expansions, budget_, scratch_, take)
              : SearchEnd::kExhausted;
    WAYSTAR_RETURN_IF_ERROR(status);
    WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(end, 0));
    if (end != SearchEnd::kExhausted) {
      alone.assign(members.begin(), members.end());
    }
    for (const std::size_t member : alone) {
      WAYSTAR_RETURN_IF_ERROR(AnswerAlone(member));
    }
    return absl::OkStatus();
  }

  const NavMesh& mesh_;
  const absl::Span<const MeshPathTask> tasks_;
  const Budget& budget_;
  MeshScratch& scratch_;
  const MeshPathSink sink_;
  std::uint64_t last_expanded_ = 0;
};

bool MayShareFlood(const MeshPathTask& task) {
  return task.query->goals.size() == 1 && task.query->unreachable_policy == UnreachablePolicy::kReport &&
         task.max_expansions == std::numeric_limits<std::uint64_t>::max() &&
         task.max_cost == std::numeric_limits<Cost>::max() && CheckMeshQuery(*task.query).ok();
}

}  // namespace

absl::Status FindMeshPaths(const NavMesh& mesh, absl::Span<const MeshPathTask> tasks, const Budget& budget,
                           MeshScratch& scratch, MeshPathSink sink) {
  // Smaller groups do not pay.
  constexpr std::size_t kLeastGroup = 8;
  std::vector<std::optional<std::pair<MeshHub, MeshHub>>> ends(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    // Floods only know lengths.
    if (const MeshQuery& query = *tasks[i].query; !mesh.is_weighted() && MayShareFlood(tasks[i])) {
      ends[i].emplace(MeshHub{HubEnd::kStart, query.start, query.snap},
                      MeshHub{HubEnd::kGoal, query.goals.front(), query.snap});
    }
  }
  const HubGroups<MeshHub> hubs = GroupByHub<MeshHub>(ends, kLeastGroup);
  MeshPathsFinder finder(mesh, tasks, budget, scratch, sink);
  for (const auto& group : hubs.groups) {
    WAYSTAR_RETURN_IF_ERROR(finder.AnswerGroup(group));
  }
  for (const std::size_t task : hubs.singles) {
    WAYSTAR_RETURN_IF_ERROR(finder.AnswerAlone(task));
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
