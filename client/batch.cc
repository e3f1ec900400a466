#include "client/batch.h"

namespace waystar::client {

void ShareFields(const v1::FindPathRequest& query, v1::FindPathsRequest& batch) {
  batch.set_map(query.map());
  if (query.has_agent()) {
    *batch.mutable_agent() = query.agent();
  }
  if (query.has_view()) {
    *batch.mutable_view() = query.view();
  }
  if (query.has_snap()) {
    *batch.mutable_snap() = query.snap();
  }
  batch.set_algorithm(query.algorithm());
  batch.set_unreachable_policy(query.unreachable_policy());
  batch.set_path_form(query.path_form());
  batch.set_max_expansions(query.max_expansions());
  batch.set_tolerance(query.tolerance());
  batch.set_with_positions(query.with_positions());
  batch.set_with_summary(query.with_summary());
  batch.set_with_corridor(query.with_corridor());
  batch.set_with_surface(query.with_surface());
  batch.set_with_polygons(query.with_polygons());
  if (query.has_max_cost()) {
    batch.set_max_cost(query.max_cost());
  }
  if (query.has_clip_cost()) {
    batch.set_clip_cost(query.clip_cost());
  }
  if (query.has_clip_length()) {
    batch.set_clip_length(query.clip_length());
  }
  if (query.has_turn_budget()) {
    batch.set_turn_budget(query.turn_budget());
  }
}

void AddEnds(const v1::FindPathRequest& query, v1::FindPathsRequest& batch) {
  v1::PathQuery& ends = *batch.add_queries();
  if (query.has_start()) {
    *ends.mutable_start() = query.start();
  }
  *ends.mutable_goals() = query.goals();
  ends.set_goal_map(query.goal_map());
}

}  // namespace waystar::client
