// Handlers of RPCs, called on maps in a store as the services call them, but without a server.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/store/map_store.h"
#include "server/formats/detect/import_map.h"
#include "server/service/admission/executor.h"
#include "server/service/auth/caller.h"
#include "server/service/call/call_context.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_edits.h"
#include "server/service/handlers/maps/map_creation.h"
#include "server/service/handlers/query/answer_query.h"
#include "server/service/handlers/query/field_answers.h"
#include "tests/testing/status_matchers.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar {

class HandlerTest : public ::testing::Test {
 protected:
  // Creates a map as the RPC does, and returns what it tells of it.
  absl::StatusOr<v1::MapInfo> Create(const v1::CreateMapRequest& request) {
    WAYSTAR_RETURN_IF_ERROR(store_.CheckCanCreate(request.map()));
    WAYSTAR_ASSIGN_OR_RETURN(rpc::MadeMap made,
                             rpc::MakeMap(store_, core::kMaxMapSide, request, /*stop=*/nullptr));
    const absl::StatusOr<core::PinnedSnapshot> snapshot = std::visit(
        [&](auto& kind) { return store_.Create(request.map(), std::move(kind), absl::Now()); }, made.map);
    WAYSTAR_RETURN_IF_ERROR(snapshot.status());
    v1::MapInfo info;
    rpc::FillMapInfo(store_, **snapshot, info);
    return info;
  }

  void Create(const std::string& id, const std::vector<std::string>& rows, const v1::GridOptions& grid = {}) {
    v1::CreateMapRequest request;
    request.set_map(id);
    request.mutable_rows()->Assign(rows.begin(), rows.end());
    *request.mutable_grid() = grid;
    ASSERT_THAT(Create(request), IsOk());
  }

  absl::StatusOr<v1::UpdateMapResponse> Update(const v1::UpdateMapRequest& request) {
    WAYSTAR_ASSIGN_OR_RETURN(core::UpdateBatch batch, rpc::ToUpdateBatch(store_, request));
    WAYSTAR_ASSIGN_OR_RETURN(const core::UpdateResult result,
                             store_.UpdateAndWait(request.map(), std::move(batch)));
    v1::UpdateMapResponse response;
    rpc::FillUpdateResult(result, rpc::HexCoordinates::Of(store_, request.map()), response);
    return response;
  }

  absl::StatusOr<v1::FindPathResponse> Find(const v1::FindPathRequest& request) {
    return Answer<v1::FindPathResponse>([&](v1::FindPathResponse& response) {
      return rpc::AnswerFindPath(store_, kMaxBytes, request, response, context_);
    });
  }

  // Validates the one path of the request.
  absl::StatusOr<v1::PathValidity> Validate(const v1::ValidatePathsRequest& request) {
    const absl::StatusOr<v1::ValidatePathsResponse> response = Ask<v1::ValidatePathsResponse>(request);
    return response.ok() ? absl::StatusOr<v1::PathValidity>(response->results(0)) : response.status();
  }

  // Returns the answer to a question about fields, rays, samples, paths or surfaces.
  template <typename Response, typename Request>
  absl::StatusOr<Response> Ask(const Request& request) {
    return Answer<Response>([&](Response& response) {
      return rpc::FieldAnswers(store_, kMaxBytes)(request, response, context_);
    });
  }

  // Returns the response that a handler fills, or its error.
  template <typename Response, typename Handler>
  static absl::StatusOr<Response> Answer(Handler handler) {
    Response response;
    WAYSTAR_RETURN_IF_ERROR(handler(response));
    return response;
  }

  static constexpr std::size_t kMaxBytes = std::size_t{4} << 20;

  core::MapStore store_{16};
  rpc::Workbench bench_{std::size_t{64} << 20};
  const rpc::Caller caller_ = rpc::Caller::Anyone();
  rpc::CallContext context_{.bench = bench_, .caller = caller_};
};

}  // namespace waystar
