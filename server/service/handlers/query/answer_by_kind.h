// Dispatches requests to the answers for the kind of their map.
#pragma once

#include <cstddef>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/status_macros.h"
#include "server/core/query/location_check.h"
#include "server/core/store/map_store.h"
#include "server/service/call/call_context.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_query.h"
#include "server/service/convert/convert_shape.h"
#include "server/service/convert/hex_coordinates.h"
#include "server/service/handlers/query/answer_query.h"
#include "server/service/handlers/query/graph_answers.h"
#include "server/service/handlers/query/grid_answers.h"
#include "server/service/handlers/query/mesh_answers.h"
#include "server/service/handlers/query/question.h"

namespace waystar::rpc {

// Keeps paths within a region in columns and rows, as the core only supports regions of the plane. Regions
// off the map are rejected later.
inline void BlockOutside(const core::Rectangle& part, const HexCoordinates& coordinates,
                         core::AgentQuery& agent) {
  const core::HexBoard* const board = coordinates.board();
  if (board != nullptr && !part.empty() && core::Intersect(part, board->bounds()) == part) {
    core::Overlay& overlay = agent.overlay.has_value() ? *agent.overlay : agent.overlay.emplace();
    coordinates.AddOutside(part, overlay.blocked.rectangles);
  }
}

// Answers a question on the latest snapshot of a map, by GridAnswers, GraphAnswers or MeshAnswers. Returns
// the errors of MapStore::Pin, TakeView, ToAgentQuery, CheckSnap, AnswersOn and Answer.
template <typename Request, typename Response>
absl::Status AnswerByKind(const core::MapStore& store, std::size_t max_bytes, const Request& request,
                          Response& response, CallContext& context) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  Question question{.store = store, .snapshot = *snapshot, .max_bytes = max_bytes, .context = context};
  WAYSTAR_RETURN_IF_ERROR(TakeView(*snapshot, request.view(), context));
  question.coordinates = HexCoordinates(*snapshot);
  WAYSTAR_ASSIGN_OR_RETURN(question.agent,
                           ToAgentQuery(request.agent(), request.view(), question.coordinates));
  if constexpr (requires { request.has_max_cost(); }) {
    if (request.has_region()) {
      BlockOutside(ToRectangle(request.region()), question.coordinates, question.agent);
    }
  }
  if constexpr (requires { request.snap(); }) {
    question.snap = ToSnap(request.has_snap(), request.snap());
    WAYSTAR_RETURN_IF_ERROR(core::CheckSnap(question.snap, snapshot->kind()));
  }
  FillVersion(snapshot->version(), *response.mutable_version());
  return std::visit(
      [&](const auto& map) -> absl::Status {
        WAYSTAR_ASSIGN_OR_RETURN(const auto answers, AnswersOn(map, question));
        return answers->Answer(request, response);
      },
      snapshot->map);
}

}  // namespace waystar::rpc
