// RouteTest: drawn maps in a store, and the answers to route queries on them told as text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/edit/edit.h"
#include "server/core/query/resolve.h"
#include "server/core/query/solve.h"
#include "server/core/store/map_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/status_matchers.h"

namespace waystar {

// "(0, 0) (1, 0)".
inline std::string Show(absl::Span<const core::Cell> cells) {
  return absl::StrJoin(cells, " ", [](std::string* out, core::Cell cell) {
    absl::StrAppend(out, "(", cell.x, ", ", cell.y, ")");
  });
}

inline core::RouteQuery Between(core::Cell start, core::Cell goal) {
  return {.start = {.cell = start}, .goals = {{.cell = goal}}};
}

// Water that is impassable, and swamp.
inline core::GridSettings Sea() {
  core::GridSettings settings;
  settings.terrains.push_back({.symbol = '~', .name = "water", .impassable = true});
  settings.terrains.push_back({.symbol = 's', .name = "swamp", .cost = 3});
  return settings;
}

class RouteTest : public ::testing::Test {
 protected:
  void Create(const std::string& id, const std::vector<std::string>& rows, core::GridSettings settings = {}) {
    ASSERT_THAT(store_.Create(id, DrawMap(rows, std::move(settings)), absl::UnixEpoch()), IsOk());
  }

  void Apply(const std::string& id, std::vector<core::Edit> edits) {
    ASSERT_THAT(store_.UpdateAndWait(id, {.edits = std::move(edits)}), IsOk());
  }

  absl::StatusOr<core::ResolvedRoute> Resolve(const std::string& map, const core::RouteQuery& query,
                                              const core::Budget& budget = {}) {
    WAYSTAR_ASSIGN_OR_RETURN(snapshot_, store_.Pin(map));
    query_ = query;
    return core::Resolve(*snapshot_, query_, Others(), budget);
  }

  // What is returned lives until the next call.
  absl::StatusOr<core::Route> Find(const std::string& map, const core::RouteQuery& query,
                                   const core::Budget& budget = {},
                                   core::SearchRecorder* recorder = nullptr) {
    WAYSTAR_ASSIGN_OR_RETURN(resolved_, Resolve(map, query, budget));
    return core::Solve(resolved_, budget, scratch_, recorder);
  }

  // "5: (0, 1) (0, 0)", a route's cost and points; "no way"; or what is wrong: "OFF_MAP goal".
  std::string Told(const std::string& map, const core::RouteQuery& query, const core::Budget& budget = {}) {
    return ToldOf(Find(map, query, budget));
  }

  static std::string ToldOf(const absl::StatusOr<core::Route>& route) {
    if (!route.ok()) {
      return absl::StrCat(ErrorReasonOf(route.status()), " ", ErrorFieldOf(route.status()));
    }
    return route->path.outcome == core::Outcome::kUnreachable
               ? "no way"
               : absl::StrCat(route->path.cost, ": ", Show(route->path.points));
  }

  core::OtherMaps Others() {
    return {.store = store_, .may_visit = [this](absl::string_view id) { return id != forbidden_; }};
  }

  core::MapStore store_{8};
  // The id of a map that the agent may not visit.
  std::string forbidden_;
  core::QueryScratch scratch_{std::size_t{64} << 20};

 private:
  core::PinnedSnapshot snapshot_;
  core::RouteQuery query_;
  core::ResolvedRoute resolved_;
};

}  // namespace waystar
