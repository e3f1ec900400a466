#include "client/examples/cpp/doors.h"

#include <utility>

#include "client/examples/cpp/town.h"
#include "waystar/v1/map_service.pb.h"

namespace town {
namespace {

namespace v1 = waystar::v1;

v1::WatchMapRequest WithEdits() {
  v1::WatchMapRequest request;
  request.set_map(kMap);
  request.set_with_edits(true);
  return request;
}

}  // namespace

ClosedDoors::ClosedDoors(const waystar::client::Client& client)
    : watch_(client.WatchMap(WithEdits())), listener_([this] { Listen(); }) {}

ClosedDoors::~ClosedDoors() {
  watch_->Cancel();
  listener_.join();
}

std::vector<v1::Cell> ClosedDoors::Take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(closed_, {});
}

void ClosedDoors::Listen() {
  for (v1::WatchMapResponse event; watch_->Next(event);) {
    for (const v1::Edit& edit : event.revision().edits()) {
      // A door that opens removes its obstacle, and is in nobody's way.
      const auto& cells = edit.put_obstacle().obstacle().shape().cells();
      const std::lock_guard lock(mutex_);
      closed_.insert(closed_.end(), cells.begin(), cells.end());
    }
  }
}

}  // namespace town
