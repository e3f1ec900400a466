// The town that the agents walk in: rooms, with a door in each wall between two of them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/client.h"
#include "waystar/v1/types.pb.h"

namespace town {

inline constexpr char kMap[] = "game-loop";
inline constexpr int kSide = 97;

// Creates the map, in place of one that there was.
absl::Status Create(const waystar::client::Client& client);

// The cell of each door.
const std::vector<waystar::v1::Cell>& Doors();

// Bars a door for two seconds; then it opens by itself.
absl::Status CloseDoor(const waystar::client::Client& client, int door);

}  // namespace town
