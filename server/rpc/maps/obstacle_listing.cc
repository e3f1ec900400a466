#include "server/rpc/maps/obstacle_listing.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/base/clock.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/map/obstacle.h"
#include "server/core/map/obstacle_table.h"
#include "server/rpc/wire/convert_edits.h"
#include "server/rpc/wire/convert_shape.h"

namespace waystar::rpc {
namespace {

// What an obstacle takes beside itself in its message, at the most.
constexpr std::size_t kObstacleEnvelopeBytes = 6;
// The rest of the message.
constexpr std::size_t kOtherBytes = 128;

absl::Status CheckRequest(const v1::ListObstaclesRequest& request) {
  if (request.page_size() < 0) {
    return InvalidArgument(ErrorReason::kBadValue, "page_size",
                           absl::StrCat("a page has at least 1 obstacle, not ", request.page_size()));
  }
  if (!request.page_token().empty() && !core::CheckObstacleId(request.page_token()).ok()) {
    return InvalidArgument(ErrorReason::kBadValue, "page_token", "this is no token of an earlier page");
  }
  const v1::Rectangle& region = request.region();
  if (request.has_region() && (region.width() < 1 || region.height() < 1)) {
    return InvalidArgument(ErrorReason::kBadRectangle, region.width() < 1 ? "region.width" : "region.height",
                           absl::StrCat("a rectangle's width and height are at least 1, not ", region.width(),
                                        " x ", region.height()));
  }
  return absl::OkStatus();
}

// Fills a page, one obstacle after the other.
class Page {
 public:
  Page(std::size_t size, std::size_t max_bytes, v1::ListObstaclesResponse& response)
      : size_(size), max_bytes_(max_bytes), response_(response) {}

  // False if it is full, and there are others on the next one.
  bool Add(const core::Obstacle& obstacle) {
    const auto count = static_cast<std::size_t>(response_.obstacles_size());
    v1::Obstacle written;
    if (count < size_) {
      FillObstacle(obstacle, now_, written);
      bytes_ += written.ByteSizeLong() + kObstacleEnvelopeBytes;
    }
    if (count == size_ || (count > 0 && bytes_ > max_bytes_)) {
      response_.set_next_page_token(response_.obstacles(response_.obstacles_size() - 1).id());
      return false;
    }
    response_.add_obstacles()->Swap(&written);
    return true;
  }

 private:
  const std::size_t size_;
  const std::size_t max_bytes_;
  const absl::Time now_ = Clock::Steady().Now();
  v1::ListObstaclesResponse& response_;
  std::size_t bytes_ = kOtherBytes;
};

}  // namespace

absl::Status ListNamedObstacles(const core::MapStore& store, std::size_t max_bytes,
                                const v1::ListObstaclesRequest& request,
                                v1::ListObstaclesResponse& response) {
  constexpr int kDefaultPage = 100;
  constexpr int kMaxPage = 1000;
  WAYSTAR_RETURN_IF_ERROR(CheckRequest(request));
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  response.set_revision(snapshot->revision);
  const core::ObstacleTable& obstacles =
      snapshot->is_grid() ? snapshot->grid().obstacles() : snapshot->graph().sight().obstacles();
  const auto size = static_cast<std::size_t>(
      request.page_size() == 0 ? kDefaultPage : std::min(request.page_size(), kMaxPage));
  Page page(size, max_bytes, response);
  if (!request.has_region()) {
    obstacles.VisitAfter(request.page_token(),
                         [&page](const core::Obstacle& obstacle) { return page.Add(obstacle); });
    return absl::OkStatus();
  }
  const core::Rectangle region = ToRectangle(request.region());
  const core::Box box{double(region.x), double(region.y), double(region.x) + region.width,
                      double(region.y) + region.height};
  for (const core::Obstacle* obstacle :
       snapshot->is_grid() ? obstacles.Overlapping(region) : snapshot->graph().sight().ObstaclesNear(box)) {
    if (obstacle->id > request.page_token() && !page.Add(*obstacle)) {
      break;
    }
  }
  return absl::OkStatus();
}

}  // namespace waystar::rpc
