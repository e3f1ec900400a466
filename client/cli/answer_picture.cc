#include "client/cli/answer_picture.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/draw/hex_cells.h"
#include "client/cli/draw/path_cells.h"
#include "client/cli/find_text.h"
#include "client/cli/map_picture.h"

namespace waystar::cli {
namespace {

Overlay OverlayOf(const v1::FindPathRequest& request, const v1::FindPathResponse& answer,
                  const SearchCells& search, const v1::GridInfo& grid) {
  Overlay overlay;
  overlay.start = StartOf(request, answer);
  const bool ends_here = request.goal_map().empty() || request.goal_map() == request.map();
  if (ends_here && request.has_goal()) {
    overlay.goal = request.goal();
  } else if (ends_here && answer.outcome() == v1::OUTCOME_FOUND) {
    overlay.goal = answer.end();
  }
  if (ends_here) {
    overlay.goals.assign(request.goals().begin(), request.goals().end());
  }
  overlay.path = PathCells(request.map(), StartOf(request, answer), answer);
  if (ends_here && answer.has_end()) {
    overlay.end = answer.end();
  }
  overlay.expanded = search.expanded();
  overlay.open = search.Open();
  LeaveOutCellsBeyond(grid.width(), grid.height(), overlay);
  return overlay;
}

// Counted by cells of the plane, whatever the request counted them by.
void MoveToPlane(const v1::HexInfo& hexagons, v1::FindPathRequest& request, v1::FindPathResponse& answer) {
  const auto move = [&, layout = request.coordinates()](v1::Cell& cell) {
    cell = PlaneCellOf(hexagons, layout, cell);
  };
  if (request.has_start()) {
    move(*request.mutable_start());
  }
  if (request.has_goal()) {
    move(*request.mutable_goal());
  }
  std::for_each(request.mutable_goals()->begin(), request.mutable_goals()->end(), move);
  if (answer.has_start()) {
    move(*answer.mutable_start());
  }
  if (answer.has_end()) {
    move(*answer.mutable_end());
  }
  std::for_each(answer.mutable_points()->begin(), answer.mutable_points()->end(), move);
  for (v1::PortalCrossing& crossing : *answer.mutable_crossings()) {
    move(*crossing.mutable_arrival());
  }
}

}  // namespace

absl::StatusOr<std::string> AnswerPicture(const v1::FindPathRequest& request,
                                          const v1::FindPathResponse& answer, const SearchCells& search,
                                          const DrawOptions& options, Session& session) {
  v1::ExportMapRequest export_request;
  export_request.set_map(request.map());
  export_request.set_format(v1::MAP_FORMAT_TEXT);
  const auto map = session.client().ExportMap(export_request);
  if (!map.ok()) {
    return map.status();
  }
  const v1::MapInfo& info = map->header.info();
  v1::FindPathRequest asked = request;
  v1::FindPathResponse told = answer;
  MoveToPlane(info.grid().hexagons(), asked, told);
  auto picture = MapPicture(*map, OverlayOf(asked, told, search, info.grid()),
                            WindowFor(options, session.io()), session.UsesColor());
  if (picture.ok() && info.revision() != answer.revision()) {
    absl::StrAppend(&*picture, "The picture shows revision ", info.revision(), ", the path is for revision ",
                    answer.revision(), ".\n");
  }
  return picture;
}

}  // namespace waystar::cli
