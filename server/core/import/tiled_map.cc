#include "server/core/import/tiled_map.h"

#include <algorithm>
#include <array>

namespace waystar::core {
namespace {

constexpr std::array<absl::string_view, 12> kMeaningful = {
    "blocked", "cell_size", "collides",   "cost",   "cost_addition", "cost_factor",
    "empty",   "ignore",    "impassable", "symbol", "terrain",       "walkable"};

}  // namespace

void AddProperty(absl::string_view name, absl::string_view value, TiledProperties& properties) {
  constexpr std::size_t kMaxValue = 100;
  if (std::find(kMeaningful.begin(), kMeaningful.end(), name) != kMeaningful.end() &&
      FindProperty(properties, name) == nullptr) {
    properties.emplace_back(name, value.substr(0, kMaxValue));
  }
}

const std::string* FindProperty(const TiledProperties& properties, absl::string_view name) {
  const auto found = std::find_if(properties.begin(), properties.end(),
                                  [&](const auto& property) { return property.first == name; });
  return found == properties.end() ? nullptr : &found->second;
}

void AddMissing(const TiledProperties& others, TiledProperties& properties) {
  for (const auto& [name, value] : others) {
    AddProperty(name, value, properties);
  }
}

void PutIntoGroup(const TiledLayer& group, TiledLayer& layer) {
  layer.visible = layer.visible && group.visible;
  layer.offset = {layer.offset.x + group.offset.x, layer.offset.y + group.offset.y};
  AddMissing(group.properties, layer.properties);
}

}  // namespace waystar::core
