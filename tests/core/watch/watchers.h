// Watches of paths on one map that change with it, and what is wrong with the answers that they have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/edit/edit.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/search/query.h"
#include "server/core/watch/path_watch_index.h"
#include "server/core/watch/watched_answer.h"
#include "server/geometry/cell.h"

namespace waystar::testing {

class Watchers {
 public:
  explicit Watchers(core::GridMap map) : map_(std::move(map)), index_(map_.width(), map_.height()) {}

  void Watch(const core::PathQuery& query);

  // Who may be concerned. Those are searched for again, and told if that says so.
  std::vector<std::uint64_t> ChangeTo(core::GridMap next);

  // What is wrong with the answers that the watchers have, judged by searching afresh; empty if nothing is.
  std::string Fault();

  const core::GridMap& map() const { return map_; }
  // How many were told of the last change.
  std::size_t told() const { return told_.size(); }

 private:
  // A path that was found, kept.
  struct Answer {
    absl::StatusOr<core::PathResult> result;
    std::vector<core::Cell> points;

    bool HasPath() const { return result.ok() && result->outcome != core::Outcome::kUnreachable; }
    bool IsLines(const core::PathQuery& query) const {
      return query.path_form == core::PathForm::kSmoothed ||
             query.algorithm == core::Algorithm::kLazyThetaStar;
    }
  };
  struct WatchState {
    core::PathQuery query;
    Answer answer;
    std::shared_ptr<const core::WatchedAnswer> watched;
  };

  Answer Find(const core::PathQuery& query);

  core::GridMap map_;
  core::Scratch scratch_{std::size_t{64} << 20};
  core::PathWatchIndex index_;
  std::vector<WatchState> watches_;
  std::vector<std::uint64_t> told_;
};

// The map after a batch that it accepts.
core::GridMap Edited(const core::GridMap& map, const std::vector<core::Edit>& edits);
core::GridMap Blocked(const core::GridMap& map, core::Cell cell);
core::GridMap Unblocked(const core::GridMap& map, core::Cell cell);
// One cell of another terrain.
core::GridMap Repainted(const core::GridMap& map, core::Cell cell, core::TerrainId terrain);

}  // namespace waystar::testing
