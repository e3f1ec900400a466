#pragma once

#include <string>

#include "waystar/v1/edits.pb.h"

namespace waystar::cli {

// What the obstacle does to the cells it covers: "blocks", "cost x 2.5", "cost + 4 falling off".
std::string EffectText(const v1::Obstacle& obstacle);

// "30s", "1.5s"; empty if it stays.
std::string LifetimeText(const v1::Obstacle& obstacle);

// One line: "block 3,4 disc:10,4,2.5", "put gate disc:10,4,2.5 cost x 2.5 for 30s".
std::string EditText(const v1::Edit& edit);

}  // namespace waystar::cli
