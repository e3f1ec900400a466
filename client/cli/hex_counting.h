// How the tool counts the cells of a map of hexagons: as pictures of the map label them.
#pragma once

#include <google/protobuf/message.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/session.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// Counts the cells of one map: by columns and rows of a board of hexagons, or as cells of the plane, which
// all cells of other maps are.
class HexCounting {
 public:
  // Counts cells of the plane.
  HexCounting() = default;
  HexCounting(v1::HexLayout layout, v1::HexInfo map) : layout_(layout), map_(std::move(map)) {}

  v1::HexLayout layout() const { return layout_; }
  bool IsPlane() const;

  v1::Cell ToPlane(const v1::Cell& cell) const;
  v1::Cell FromPlane(const v1::Cell& cell) const;
  // Returns the columns and rows that the cells of a rectangle of the plane lie in.
  v1::Rectangle Around(const v1::Rectangle& of_plane) const;
  // Writes a shape of the plane. One that columns and rows cannot tell is written as it is, after "axial".
  std::string TextOf(const v1::Shape& of_plane) const;

 private:
  v1::HexLayout layout_ = v1::HEX_LAYOUT_UNSPECIFIED;
  v1::HexInfo map_;
};

// Adds --coordinates.
void AddCoordinates(CLI::App& command, const std::function<void(v1::HexLayout)>& accept);

// Returns how pictures label the cells of the map, or how `asked` counts them, unless that is unspecified.
// Asks the server about the map, once a run. If it does not tell, for want of rights for example, cells are
// those of the plane. Returns the errors of a server that cannot be reached.
absl::StatusOr<HexCounting> CountingOf(Session& session, const std::string& map, v1::HexLayout asked);

// Whether there are cells, positions or shapes in the message.
bool HasPlaces(const google::protobuf::Message& message);

// Says in a request how its cells and those of its answer are counted, as CountingOf has it, and returns
// that.
template <typename Request>
absl::StatusOr<HexCounting> CountCells(Session& session, Request& request) {
  constexpr bool kHasView = requires { request.mutable_view(); };
  v1::HexLayout asked;
  if constexpr (kHasView) {
    asked = request.view().coordinates();
  } else {
    asked = request.coordinates();
  }
  const absl::StatusOr<HexCounting> counting = CountingOf(session, request.map(), asked);
  if (!counting.ok() || counting->IsPlane()) {
    return counting;
  }
  if constexpr (kHasView) {
    request.mutable_view()->set_coordinates(counting->layout());
  } else {
    request.set_coordinates(counting->layout());
  }
  return counting;
}

// The same, but asks the server only if there are places in the request.
template <typename Request>
absl::StatusOr<HexCounting> CountGivenCells(Session& session, Request& request) {
  return HasPlaces(request) ? CountCells(session, request) : HexCounting();
}

}  // namespace waystar::cli
