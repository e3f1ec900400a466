#include "server/core/edit/edit_digest.h"

#include <bit>
#include <string>
#include <variant>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace waystar::core {
namespace {

struct ByteCounter {
  std::size_t operator()(const BlockCells& edit) const { return BytesOf(edit.shape); }
  std::size_t operator()(const UnblockCells& edit) const { return BytesOf(edit.shape); }
  std::size_t operator()(const SetTerrain& edit) const { return BytesOf(edit.shape); }
  std::size_t operator()(const PutObstacle& edit) const {
    return edit.obstacle.id.capacity() + BytesOf(edit.obstacle.shape);
  }
  std::size_t operator()(const MoveObstacle& edit) const { return edit.id.capacity(); }
  std::size_t operator()(const ResizeObstacle& edit) const {
    return edit.id.capacity() + BytesOf(edit.shape);
  }
  std::size_t operator()(const RemoveObstacle& edit) const { return edit.id.capacity(); }
  std::size_t operator()(const PutPortal& edit) const {
    std::size_t bytes = edit.portal.id.capacity() + edit.portal.to_map.capacity() +
                        edit.portal.tags.capacity() * sizeof(std::string);
    for (const std::string& tag : edit.portal.tags) {
      bytes += tag.capacity();
    }
    return bytes;
  }
  std::size_t operator()(const RemovePortal& edit) const { return edit.id.capacity(); }
  std::size_t operator()(const SwitchPortal& edit) const { return edit.id.capacity(); }
  std::size_t operator()(const PutProfile& edit) const {
    const MovementProfile& profile = edit.named.profile;
    std::size_t bytes = edit.named.name.capacity() + profile.terrain_costs.capacity() * sizeof(TerrainCost) +
                        profile.forbidden_terrains.capacity();
    for (const std::string& tag : profile.required_tags) {
      bytes += sizeof(tag) + tag.capacity();
    }
    return bytes;
  }
  std::size_t operator()(const RemoveProfile& edit) const { return edit.name.capacity(); }
  std::size_t operator()(const PutNodes& edit) const { return BytesOfAll(edit.nodes); }
  std::size_t operator()(const RemoveNodes& edit) const { return BytesOfAll(edit.nodes); }
  std::size_t operator()(const PutEdges& edit) const { return BytesOfAll(edit.edges); }
  std::size_t operator()(const RemoveEdges& edit) const { return BytesOfAll(edit.edges); }
  std::size_t operator()(const SetEnabled& edit) const {
    return BytesOfAll(edit.nodes) + BytesOfAll(edit.edges);
  }

 private:
  static std::size_t BytesHeld(const std::string& text) { return text.capacity(); }
  static std::size_t BytesHeld(const EdgeName& name) { return name.from.capacity() + name.to.capacity(); }
  static std::size_t BytesHeld(const WaypointNode& node) {
    return node.id.capacity() + BytesOfAll(node.tags);
  }
  static std::size_t BytesHeld(const WaypointEdge& edge) {
    return BytesHeld(edge.name) + BytesOfAll(edge.tags);
  }
  template <typename T>
  static std::size_t BytesOfAll(const std::vector<T>& list) {
    std::size_t bytes = list.capacity() * sizeof(T);
    for (const T& item : list) {
      bytes += BytesHeld(item);
    }
    return bytes;
  }
};

// Takes values in so that no two sequences of them read alike: each list goes with its length, each edit with
// its kind.
class Hasher {
 public:
  void Add(std::uint64_t value) {
    high_ = Fold(high_ ^ value, 0xa0761d6478bd642fU);
    low_ = Fold(low_ + value, 0xe7037ed1a0b428dbU) ^ std::rotl(low_, 23);
  }
  void Add(std::int64_t value) { Add(static_cast<std::uint64_t>(value)); }
  void Add(std::int32_t first, std::int32_t second) {
    Add(std::uint64_t{static_cast<std::uint32_t>(first)} << 32 | static_cast<std::uint32_t>(second));
  }
  void Add(double value) { Add(std::bit_cast<std::uint64_t>(value)); }
  void Add(absl::string_view text) {
    Add(std::uint64_t{text.size()});
    for (std::size_t i = 0; i < text.size(); i += sizeof(std::uint64_t)) {
      const absl::string_view part = text.substr(i, sizeof(std::uint64_t));
      std::uint64_t value = 0;
      for (const char c : part) {
        value = value << 8 | static_cast<unsigned char>(c);
      }
      Add(value);
    }
  }
  void Add(Cell cell) { Add(cell.x, cell.y); }
  void Add(const Rectangle& r) {
    Add(r.x, r.y);
    Add(r.width, r.height);
  }
  void Add(const Point& point) {
    Add(point.x);
    Add(point.y);
  }
  void Add(const Disc& disc) {
    Add(disc.center);
    Add(disc.radius);
  }
  void Add(const Polygon& polygon) { Add(polygon.vertices); }
  void Add(const Line& line) {
    Add(line.start);
    Add(line.end);
    Add(line.width);
  }
  template <typename T>
  void Add(const std::vector<T>& list) {
    Add(std::uint64_t{list.size()});
    for (const T& item : list) {
      Add(item);
    }
  }
  void Add(const Shape& shape) {
    Add(shape.cells);
    Add(shape.rectangles);
    Add(shape.discs);
    Add(shape.polygons);
    Add(shape.lines);
  }

  void Add(const std::string& text) { Add(absl::string_view(text)); }
  void Add(const WorldPoint& point) {
    Add(point.x);
    Add(point.y);
    Add(point.z);
  }
  void Add(const WaypointNode& node) {
    Add(node.id);
    Add(node.position);
    Add(std::uint64_t{node.enabled});
    Add(node.tags);
  }
  void Add(const EdgeName& name) {
    Add(name.from);
    Add(name.to);
    Add(std::uint64_t{name.one_way});
  }
  void Add(const WaypointEdge& edge) {
    Add(edge.name);
    Add(edge.cost);
    Add(std::uint64_t{edge.enabled});
    Add(edge.tags);
  }

  void operator()(const BlockCells& edit) { Add(edit.shape); }
  void operator()(const UnblockCells& edit) { Add(edit.shape); }
  void operator()(const SetTerrain& edit) {
    Add(edit.shape);
    Add(std::uint64_t{static_cast<unsigned char>(edit.symbol)});
  }
  void operator()(const PutObstacle& edit) {
    Add(edit.obstacle.id);
    Add(edit.obstacle.shape);
    Add(static_cast<std::uint64_t>(edit.obstacle.effect.kind));
    Add(edit.obstacle.effect.amount);
    Add(static_cast<std::uint64_t>(edit.obstacle.effect.falloff));
    Add(std::uint64_t{edit.lifetime.has_value()});
    Add(absl::ToInt64Nanoseconds(edit.lifetime.value_or(absl::ZeroDuration())));
    Add(std::uint64_t{edit.replace});
  }
  void operator()(const MoveObstacle& edit) {
    Add(edit.id);
    Add(edit.dx);
    Add(edit.dy);
  }
  void operator()(const ResizeObstacle& edit) {
    Add(edit.id);
    Add(edit.shape);
  }
  void operator()(const RemoveObstacle& edit) { Add(edit.id); }
  void operator()(const PutPortal& edit) {
    Add(edit.portal.id);
    Add(edit.portal.from);
    Add(edit.portal.to_map);
    Add(edit.portal.to);
    Add(edit.portal.cost);
    Add(std::uint64_t{edit.portal.both_ways});
    Add(edit.portal.tags);
    Add(std::uint64_t{edit.portal.closed});
    Add(std::uint64_t{edit.replace});
  }
  void operator()(const RemovePortal& edit) { Add(edit.id); }
  void operator()(const SwitchPortal& edit) {
    Add(edit.id);
    Add(std::uint64_t{edit.closed});
  }
  void operator()(const PutProfile& edit) {
    const MovementProfile& profile = edit.named.profile;
    Add(edit.named.name);
    Add(profile.footprint, static_cast<std::int32_t>(profile.corner_rule));
    Add(std::uint64_t{profile.terrain_costs.size()});
    for (const TerrainCost& terrain : profile.terrain_costs) {
      Add(std::uint64_t{static_cast<unsigned char>(terrain.symbol)});
      Add(terrain.cost);
    }
    Add(std::string(profile.forbidden_terrains.begin(), profile.forbidden_terrains.end()));
    Add(std::uint64_t{profile.required_tags.size()});
    for (const std::string& tag : profile.required_tags) {
      Add(absl::string_view(tag));
    }
    Add(std::uint64_t{profile.no_diagonals});
  }
  void operator()(const RemoveProfile& edit) { Add(edit.name); }
  void operator()(const PutNodes& edit) {
    Add(edit.nodes);
    Add(std::uint64_t{edit.replace});
  }
  void operator()(const RemoveNodes& edit) { Add(edit.nodes); }
  void operator()(const PutEdges& edit) {
    Add(edit.edges);
    Add(std::uint64_t{edit.replace});
  }
  void operator()(const RemoveEdges& edit) { Add(edit.edges); }
  void operator()(const SetEnabled& edit) {
    Add(edit.nodes);
    Add(edit.edges);
    Add(std::uint64_t{edit.enabled});
  }

  Fingerprint Finish() const { return {.high = Fold(high_, 0x8ebc6af09c88c6e3U), .low = low_}; }

 private:
  static std::uint64_t Fold(std::uint64_t a, std::uint64_t b) {
    const absl::uint128 product = absl::uint128(a ^ 0x589965cc75374cc3U) * b;
    return absl::Uint128High64(product) ^ absl::Uint128Low64(product);
  }

  std::uint64_t high_ = 0x2d358dccaa6c78a5U;
  std::uint64_t low_ = 0x8bb84b93962eacc9U;
};

}  // namespace

std::size_t ApproximateBytes(absl::Span<const Edit> edits) {
  std::size_t bytes = edits.size() * sizeof(Edit);
  for (const Edit& edit : edits) {
    bytes += std::visit(ByteCounter(), edit);
  }
  return bytes;
}

Fingerprint FingerprintOf(absl::Span<const Edit> edits, std::optional<std::uint64_t> number) {
  Hasher hasher;
  hasher.Add(std::uint64_t{number.has_value()});
  hasher.Add(number.value_or(0));
  hasher.Add(std::uint64_t{edits.size()});
  for (const Edit& edit : edits) {
    hasher.Add(std::uint64_t{edit.index()});
    std::visit([&](const auto& kind) { hasher(kind); }, edit);
  }
  return hasher.Finish();
}

}  // namespace waystar::core
