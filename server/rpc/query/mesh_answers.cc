#include "server/rpc/query/mesh_answers.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/core/field/reachable_pairs.h"
#include "server/core/mesh_search/mesh_path.h"
#include "server/core/query/location_check.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"
#include "server/rpc/call/answer_size.h"
#include "server/rpc/query/work_stopwatch.h"
#include "server/rpc/wire/convert.h"
#include "server/rpc/wire/convert_query.h"

namespace waystar::rpc {

absl::StatusOr<std::unique_ptr<MeshAnswers>> AnswersOn(const core::NavMesh& /*mesh*/,
                                                       const Question& question) {
  WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<const core::MeshAgent> agent,
                           core::MeshAgent::Make(question.snapshot, question.agent));
  return std::make_unique<MeshAnswers>(question, std::move(agent));
}

absl::StatusOr<std::optional<std::uint32_t>> MeshAnswers::PartOf(absl::string_view field,
                                                                 const v1::Location& location) const {
  const core::Location converted = ToLocation(location, question_.coordinates);
  WAYSTAR_RETURN_IF_ERROR(core::CheckLocationOnMesh(field, converted));
  const core::WorldPoint position = core::ToWorldPoint(converted);
  WAYSTAR_RETURN_IF_ERROR(core::CheckMeshPosition(position, field));
  const core::NavMesh& mesh = agent_->mesh();
  const std::optional<core::MeshPlace> place =
      core::FindMeshPlace(mesh, position, core::ToMeshSnap(question_.snap));
  return place ? std::optional(mesh.PartOf(place->polygon)) : std::nullopt;
}

absl::Status MeshAnswers::Answer(const v1::CheckReachabilityRequest& request,
                                 v1::CheckReachabilityResponse& response) {
  if (request.pairs().empty()) {
    return MissingField("pairs");
  }
  WAYSTAR_RETURN_IF_ERROR(
      core::CheckCount("pairs", static_cast<std::size_t>(request.pairs_size()), core::kMaxReachabilityPairs));
  WAYSTAR_RETURN_IF_ERROR(core::BeginToPlace(2 * static_cast<std::size_t>(request.pairs_size()), budget_));
  const WorkStopwatch stopwatch;
  const core::BudgetStop stop(budget_);
  for (const v1::LocationPair& pair : request.pairs()) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(&stop, static_cast<std::size_t>(response.reachable_size())));
    const auto start = PartOf("start", pair.start());
    const auto goal = PartOf("goal", pair.goal());
    if (!start.ok() || !goal.ok()) {
      const auto index = static_cast<std::size_t>(response.reachable_size());
      return WithFieldPrefix(start.ok() ? goal.status() : start.status(),
                             absl::StrCat(core::IndexedField("pairs", index), "."));
    }
    response.add_reachable(start->has_value() && *start == *goal);
  }
  stopwatch.Stamp(question_.context, 0, *response.mutable_statistics());
  return CheckAnswerFits(response.ByteSizeLong(), question_.max_bytes, "pairs");
}

}  // namespace waystar::rpc
