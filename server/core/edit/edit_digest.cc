#include "server/core/edit/edit_digest.h"

#include <bit>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace waystar::core {
namespace {

// Return the fields of a value that affect its meaning. The order must not change, since fingerprints are
// stored.
auto FieldsOf(const Cell& cell) { return std::tie(cell.x, cell.y); }
auto FieldsOf(const Rectangle& r) { return std::tie(r.x, r.y, r.width, r.height); }
auto FieldsOf(const Point& point) { return std::tie(point.x, point.y); }
auto FieldsOf(const Disc& disc) { return std::tie(disc.center, disc.radius); }
auto FieldsOf(const Polygon& polygon) { return std::tie(polygon.vertices); }
auto FieldsOf(const Line& line) { return std::tie(line.start, line.end, line.width); }
auto FieldsOf(const Shape& shape) {
  return std::tie(shape.cells, shape.rectangles, shape.discs, shape.polygons, shape.lines);
}
auto FieldsOf(const ObstacleEffect& effect) { return std::tie(effect.kind, effect.amount, effect.falloff); }
auto FieldsOf(const Obstacle& obstacle) { return std::tie(obstacle.id, obstacle.shape, obstacle.effect); }
template <typename Place, typename CostType>
auto FieldsOf(const PortalBetween<Place, CostType>& portal) {
  return std::tie(portal.id, portal.from, portal.to_map, portal.to, portal.cost, portal.both_ways,
                  portal.tags, portal.closed);
}
auto FieldsOf(const WorldPoint& point) { return std::tie(point.x, point.y, point.z); }
auto FieldsOf(const TerrainCost& terrain) { return std::tie(terrain.symbol, terrain.cost); }
auto FieldsOf(const NamedProfile& named) {
  const MovementProfile& profile = named.profile;
  return std::tie(named.name, profile.footprint, profile.corner_rule, profile.terrain_costs,
                  profile.forbidden_terrains, profile.required_tags, profile.no_diagonals);
}
auto FieldsOf(const WaypointNode& node) {
  return std::tie(node.id, node.position, node.enabled, node.tags, node.label);
}
auto FieldsOf(const EdgeName& name) { return std::tie(name.from, name.to, name.one_way); }
auto FieldsOf(const WaypointEdge& edge) { return std::tie(edge.name, edge.cost, edge.enabled, edge.tags); }

auto FieldsOf(const BlockCells& edit) { return std::tie(edit.shape); }
auto FieldsOf(const UnblockCells& edit) { return std::tie(edit.shape); }
auto FieldsOf(const SetTerrain& edit) { return std::tie(edit.shape, edit.symbol); }
auto FieldsOf(const PutObstacle& edit) { return std::tie(edit.obstacle, edit.lifetime, edit.replace); }
auto FieldsOf(const MoveObstacle& edit) { return std::tie(edit.id, edit.dx, edit.dy); }
auto FieldsOf(const ResizeObstacle& edit) { return std::tie(edit.id, edit.shape); }
auto FieldsOf(const RemoveObstacle& edit) { return std::tie(edit.id); }
auto FieldsOf(const PutPortal& edit) { return std::tie(edit.portal, edit.replace); }
auto FieldsOf(const PutMeshPortal& edit) { return std::tie(edit.portal, edit.replace); }
auto FieldsOf(const RemovePortal& edit) { return std::tie(edit.id); }
auto FieldsOf(const SwitchPortal& edit) { return std::tie(edit.id, edit.closed); }
auto FieldsOf(const PutProfile& edit) { return std::tie(edit.named); }
auto FieldsOf(const RemoveProfile& edit) { return std::tie(edit.name); }
auto FieldsOf(const PutNodes& edit) { return std::tie(edit.nodes, edit.replace); }
auto FieldsOf(const RemoveNodes& edit) { return std::tie(edit.nodes); }
auto FieldsOf(const PutEdges& edit) { return std::tie(edit.edges, edit.replace); }
auto FieldsOf(const RemoveEdges& edit) { return std::tie(edit.edges); }
auto FieldsOf(const SetEnabled& edit) { return std::tie(edit.nodes, edit.edges, edit.enabled); }

template <typename T>
constexpr bool kIsNumber = std::is_arithmetic_v<T> || std::is_enum_v<T>;

// Counts the heap memory of values.
class ByteCounter {
 public:
  template <typename T>
  void Add(const T& value) {
    if constexpr (!kIsNumber<T>) {
      std::apply([&](const auto&... field) { (Add(field), ...); }, FieldsOf(value));
    }
  }
  void Add(const std::string& text) { bytes_ += text.capacity(); }
  void Add(const Shape& shape) { bytes_ += BytesOf(shape); }
  void Add(const std::optional<absl::Duration>&) {}
  template <typename T>
  void Add(const std::vector<T>& list) {
    bytes_ += list.capacity() * sizeof(T);
    for (const T& item : list) {
      Add(item);
    }
  }

  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

// Hashes a sequence of values unambiguously: each list is preceded by its length, each edit by its kind.
class Hasher {
 public:
  template <typename T>
  void Add(const T& value) {
    if constexpr (kIsNumber<T>) {
      AddWord(static_cast<std::uint64_t>(value));
    } else {
      std::apply([&](const auto&... field) { (Add(field), ...); }, FieldsOf(value));
    }
  }
  void Add(double value) { AddWord(std::bit_cast<std::uint64_t>(value)); }
  void Add(const Cell& cell) {
    AddWord(std::uint64_t{static_cast<std::uint32_t>(cell.x)} << 32 | static_cast<std::uint32_t>(cell.y));
  }
  void Add(absl::string_view text) {
    Add(text.size());
    for (std::size_t i = 0; i < text.size(); i += sizeof(std::uint64_t)) {
      std::uint64_t value = 0;
      for (const char c : text.substr(i, sizeof(std::uint64_t))) {
        value = value << 8 | static_cast<unsigned char>(c);
      }
      AddWord(value);
    }
  }
  void Add(const std::string& text) { Add(absl::string_view(text)); }
  void Add(const std::optional<absl::Duration>& duration) {
    Add(duration.has_value());
    Add(absl::ToInt64Nanoseconds(duration.value_or(absl::ZeroDuration())));
  }
  template <typename T>
  void Add(const std::vector<T>& list) {
    Add(list.size());
    for (const T& item : list) {
      Add(item);
    }
  }

  Fingerprint Finish() const { return {.high = Fold(high_, 0x8ebc6af09c88c6e3U), .low = low_}; }

 private:
  void AddWord(std::uint64_t value) {
    high_ = Fold(high_ ^ value, 0xa0761d6478bd642fU);
    low_ = Fold(low_ + value, 0xe7037ed1a0b428dbU) ^ std::rotl(low_, 23);
  }

  static std::uint64_t Fold(std::uint64_t a, std::uint64_t b) {
    const absl::uint128 product = absl::uint128(a ^ 0x589965cc75374cc3U) * b;
    return absl::Uint128High64(product) ^ absl::Uint128Low64(product);
  }

  std::uint64_t high_ = 0x2d358dccaa6c78a5U;
  std::uint64_t low_ = 0x8bb84b93962eacc9U;
};

}  // namespace

std::size_t ApproximateBytes(absl::Span<const Edit> edits) {
  ByteCounter counter;
  for (const Edit& edit : edits) {
    std::visit([&](const auto& kind) { counter.Add(kind); }, edit);
  }
  return edits.size() * sizeof(Edit) + counter.bytes();
}

Fingerprint FingerprintOf(absl::Span<const Edit> edits, std::optional<std::uint64_t> number) {
  Hasher hasher;
  hasher.Add(number.has_value());
  hasher.Add(number.value_or(0));
  hasher.Add(edits.size());
  for (const Edit& edit : edits) {
    hasher.Add(edit.index());
    std::visit([&](const auto& kind) { hasher.Add(kind); }, edit);
  }
  return hasher.Finish();
}

Fingerprint FingerprintOf(absl::string_view text) {
  // Distinct from the first value of edits, which is 0 or 1.
  constexpr int kText = 2;
  Hasher hasher;
  hasher.Add(kText);
  hasher.Add(text);
  return hasher.Finish();
}

}  // namespace waystar::core
