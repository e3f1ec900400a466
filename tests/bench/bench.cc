#include "tests/bench/bench.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <numeric>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/testing/layouts.h"

namespace waystar::bench {

double Sample::Mean() const {
  return values_.empty()
             ? 0.0
             : std::accumulate(values_.begin(), values_.end(), 0.0) / static_cast<double>(values_.size());
}

double Sample::Percentile(double fraction) {
  if (values_.empty()) {
    return 0.0;
  }
  const auto rank = static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(values_.size())));
  const auto nth = values_.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(values_.begin(), nth, values_.end());
  return *nth;
}

void Die(absl::string_view message) {
  std::cerr << message << "\n";
  std::_Exit(1);
}

void OrDie(const absl::Status& status) {
  if (!status.ok()) {
    Die(status.ToString());
  }
}

core::Algorithm AlgorithmNamed(absl::string_view name) {
  constexpr std::pair<absl::string_view, core::Algorithm> kAlgorithms[] = {
      {"auto", core::Algorithm::kAuto},
      {"astar", core::Algorithm::kAStar},
      {"dijkstra", core::Algorithm::kDijkstra},
      {"jump_point", core::Algorithm::kJumpPoint},
      {"hierarchy", core::Algorithm::kSubgoalHierarchy}};
  for (const auto& [known, algorithm] : kAlgorithms) {
    if (known == name) {
      return algorithm;
    }
  }
  Die(absl::StrCat("an algorithm is auto, astar, dijkstra, jump_point or hierarchy, not ", name));
}

std::vector<testing::MovingAiMap> MapsNamed(const std::vector<std::string>& parts) {
  const std::optional<std::filesystem::path> data = testing::DataFolder();
  if (!data) {
    std::cerr << "WAYSTAR_DATA names no folder with movingai/: its maps are not measured\n";
    return {};
  }
  std::vector<testing::MovingAiMap> maps = testing::FindMovingAiMaps(*data);
  const auto is_other = [&](const testing::MovingAiMap& map) {
    return std::none_of(parts.begin(), parts.end(),
                        [&](const std::string& part) { return absl::StrContains(map.name, part); });
  };
  maps.erase(std::remove_if(maps.begin(), maps.end(), is_other), maps.end());
  return maps;
}

core::GridMap NoiseMap(int side, double share) {
  testing::Random random(1);
  core::GridMap map = OrDie(core::GridMap::Create(side, side, {}));
  testing::LayNoise(random, share, map);
  return map;
}

core::Cell AnyCell(const core::GridMap& map, testing::Random& random) {
  return {random.Between(0, map.width() - 1), random.Between(0, map.height() - 1)};
}

core::Cell WalkableCell(const core::GridMap& map, testing::Random& random) {
  core::Cell cell = AnyCell(map, random);
  while (!map.IsWalkable(cell)) {
    cell = AnyCell(map, random);
  }
  return cell;
}

Regions::Regions(const core::GridMap& map)
    : flood_(map.walk().rows(), core::Adjacency::kStraight), cells_(1) {
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      const auto region = static_cast<std::size_t>(Of({x, y}));
      cells_.resize(std::max(cells_.size(), region + 1));
      cells_[region] += region == 0 ? 0 : 1;
    }
  }
}

int Regions::Largest() const {
  return static_cast<int>(std::distance(cells_.begin(), std::max_element(cells_.begin(), cells_.end())));
}

void InFlight::Begin(int max) {
  MutexLock lock(mutex_);
  while (count_ >= max) {
    changed_.Wait(mutex_);
  }
  ++count_;
}

void InFlight::End(const absl::Status& status) {
  OrDie(status);
  MutexLock lock(mutex_);
  --count_;
  changed_.NotifyOne();
}

void InFlight::WaitForAll() {
  MutexLock lock(mutex_);
  while (count_ > 0) {
    changed_.Wait(mutex_);
  }
}

}  // namespace waystar::bench
