#include "client/examples/cpp/town.h"

#include "absl/strings/str_cat.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace town {
namespace {

namespace v1 = waystar::v1;

constexpr int kRoom = 12;
constexpr int kDoor = kRoom / 2;

bool IsWall(int x, int y) { return x % kRoom == 0 || y % kRoom == 0; }
bool IsInside(int x, int y) { return x > 0 && y > 0 && x < kSide - 1 && y < kSide - 1; }
bool IsDoor(int x, int y) {
  return IsInside(x, y) && ((x % kRoom == 0 && y % kRoom == kDoor) || (y % kRoom == 0 && x % kRoom == kDoor));
}

}  // namespace

absl::Status Create(const waystar::client::Client& client) {
  v1::DeleteMapRequest old;
  old.set_map(kMap);
  if (const auto deleted = client.DeleteMap(old); !deleted.ok() && !absl::IsNotFound(deleted.status())) {
    return deleted.status();
  }
  v1::CreateMapRequest request;
  request.set_map(kMap);
  for (int y = 0; y < kSide; ++y) {
    std::string& row = *request.add_rows();
    for (int x = 0; x < kSide; ++x) {
      row += IsWall(x, y) && !IsDoor(x, y) ? '#' : '.';
    }
  }
  return client.CreateMap(request).status();
}

const std::vector<v1::Cell>& Doors() {
  static const auto* const kDoors = [] {
    auto* doors = new std::vector<v1::Cell>();
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x) {
        if (IsDoor(x, y)) {
          doors->emplace_back();
          doors->back().set_x(x);
          doors->back().set_y(y);
        }
      }
    }
    return doors;
  }();
  return *kDoors;
}

absl::Status CloseDoor(const waystar::client::Client& client, int door) {
  v1::UpdateMapRequest request;
  request.set_map(kMap);
  v1::Obstacle& obstacle = *request.add_edits()->mutable_put_obstacle();
  obstacle.set_id(absl::StrCat("door-", door));
  *obstacle.mutable_shape()->add_cells() = Doors()[static_cast<std::size_t>(door)];
  obstacle.mutable_lifetime()->set_seconds(2);
  return client.UpdateMap(request).status();
}

}  // namespace town
