#pragma once

#include <string>

#include "waystar/v1/edits.pb.h"
#include "waystar/v1/waypoints.pb.h"

namespace waystar::cli {

// Says what the obstacle does to the cells that it covers: "blocks", "cost x 2.5", "cost + 4 falling off".
std::string EffectText(const v1::Obstacle& obstacle);

// Says how long the obstacle stays: "30s", "1.5s". It is empty if the obstacle stays until it is removed.
std::string LifetimeText(const v1::Obstacle& obstacle);

// Writes the id of a node, and its label if it has one: koln-hbf "Köln/Hbf".
std::string NodeText(const v1::WaypointNode& node);

// Writes an edit on one line: "block 3,4 disc:10,4,2.5", "put gate disc:10,4,2.5 cost x 2.5 for 30s".
std::string EditText(const v1::Edit& edit);

}  // namespace waystar::cli
