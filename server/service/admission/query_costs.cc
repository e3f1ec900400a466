#include "server/service/admission/query_costs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "absl/hash/hash.h"

namespace waystar::rpc {
namespace {

constexpr float kWeight = 1.0F / 8;
constexpr std::chrono::nanoseconds kGuess = std::chrono::microseconds(100);

// Returns the number of bits of the distance in cells. Positions count as cell (0, 0): without the map they
// have no distance.
template <typename Query>
int DistanceOctave(const Query& query) {
  const v1::Cell& start = query.start().cell();
  const v1::Cell& goal = query.goals_size() > 0 ? query.goals(0).cell() : v1::Cell::default_instance();
  const std::int64_t dx = std::int64_t{goal.x()} - start.x();
  const std::int64_t dy = std::int64_t{goal.y()} - start.y();
  const auto distance = static_cast<std::uint64_t>(std::max(std::abs(dx), std::abs(dy)));
  return static_cast<int>(std::bit_width(distance));
}

// Hashes everything but the ends. A new profile may require an expensive view of the map. The agent's
// serialized form serves as a key: it need only be the same within one client program.
template <typename Request>
std::size_t HashOfOptions(const Request& request) {
  const v1::View& view = request.view();
  return absl::HashOf(
      request.map(), static_cast<int>(request.algorithm()), request.agent().SerializeAsString(),
      view.has_overlay() ? static_cast<int>(std::bit_width(view.overlay().ByteSizeLong())) : -1,
      static_cast<int>(request.path_form()), static_cast<int>(request.unreachable_policy()),
      std::ilogb(request.snap().radius()), request.with_summary(), request.tolerance() > 0.0);
}

template <typename Query>
std::size_t HashOfQuery(std::size_t options, const Query& query) {
  return absl::HashOf(options, DistanceOctave(query), query.goals_size(), query.goal_map(),
                      static_cast<int>(query.start().place_case()));
}

}  // namespace

QueryCosts::Slot QueryCosts::SlotOf(const v1::FindPathRequest& query) {
  return HashOfQuery(HashOfOptions(query), query) % kSlots;
}

QueryCosts::Slot QueryCosts::SlotOf(const v1::SamplePlacesRequest& draw) {
  const std::int64_t area = std::int64_t{draw.region().width()} * draw.region().height();
  const std::size_t hash = absl::HashOf(
      draw.map(), draw.has_reachable_from(), draw.has_region(),
      std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(area, 0))),
      std::bit_width(static_cast<std::uint32_t>(std::max(draw.count(), 0))),
      static_cast<int>(draw.agent().movement_case()), draw.agent().profile_name(), draw.view().has_overlay());
  return hash % kSlots;
}

QueryCosts::Slot QueryCosts::SlotOf(const v1::ProbeSurfaceRequest& probes) {
  const v1::SurfaceProbe& first =
      probes.probes().empty() ? v1::SurfaceProbe::default_instance() : probes.probes(0);
  const std::size_t hash =
      absl::HashOf(probes.map(), std::bit_width(static_cast<std::uint32_t>(probes.probes_size())),
                   static_cast<int>(first.question_case()));
  return hash % kSlots;
}

std::chrono::nanoseconds QueryCosts::Estimate(Slot slot) const {
  const float known = Load(slot);
  return known > 0.0F ? std::chrono::nanoseconds(static_cast<std::int64_t>(std::exp2(known))) : kGuess;
}

void QueryCosts::NoteSlot(Slot slot, std::chrono::nanoseconds took) {
  const float now = std::log2(static_cast<float>(std::max<std::int64_t>(took.count(), 2)));
  const float known = Load(slot);
  log_nanos_[slot].store(known > 0.0F ? known + (now - known) * kWeight : now, std::memory_order_relaxed);
}

void QueryCosts::Note(const v1::FindPathsRequest& queries, std::chrono::nanoseconds took) {
  const std::size_t options = HashOfOptions(queries);
  for (const v1::PathQuery& query : queries.queries()) {
    NoteSlot(HashOfQuery(options, query) % kSlots, took / queries.queries_size());
  }
}

Lane QueryCosts::LaneOfSlot(Slot slot) const {
  if (Load(slot) == 0.0F) {
    return Lane::kSmall;
  }
  const std::chrono::nanoseconds estimate = Estimate(slot);
  return estimate <= kHere ? Lane::kHere : estimate <= kSmall ? Lane::kSmall : Lane::kLarge;
}

Lane QueryCosts::LaneOf(const v1::SamplePlacesRequest& draw) const {
  return Estimate(SlotOf(draw)) <= kSmall ? Lane::kSmall : Lane::kLarge;
}

Lane QueryCosts::LaneOf(const v1::FindPathsRequest& queries) const {
  std::chrono::nanoseconds sum{0};
  const std::size_t options = HashOfOptions(queries);
  for (const v1::PathQuery& query : queries.queries()) {
    sum += Estimate(HashOfQuery(options, query) % kSlots);
    if (sum > kSmall) {
      break;
    }
  }
  return sum <= kSmall ? Lane::kSmall : Lane::kLarge;
}

}  // namespace waystar::rpc
