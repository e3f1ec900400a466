// Which polygons adjoin in tiles of Detour whose borders do not fit, judged by Detour.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/formats/mesh/mesh_readers.h"
#include "tests/testing/detour_file.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

// No difference of heights is twice this, so that rounding decides nothing.
constexpr float kClimb = 0.50317F;
constexpr float kSide = 8.0F;
constexpr std::uint16_t kBorder = 0x8000;

template <typename T>
void Append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// A tile of columns times rows rectangles, whose vertices lie at any height within `steep` of `base`. Each
// polygon of a set has an area of its own, from `area` on, by which it is known in the mesh.
std::string RandomTile(int x, int y, int layer, float base, float steep, unsigned char& area,
                       Random& random) {
  const auto cuts = [&](int first) {
    std::vector<float> places = {static_cast<float>(first) * kSide};
    if (random.Chance(0.6)) {
      places.push_back(places.front() + static_cast<float>(random.Between(1, 7)));
    }
    places.push_back(places.front() + kSide);
    return places;
  };
  const std::vector<float> xs = cuts(x);
  const std::vector<float> zs = cuts(y);
  const int columns = static_cast<int>(xs.size()) - 1;
  const int rows = static_cast<int>(zs.size()) - 1;
  dtMeshHeader header = {};
  header.magic = DT_NAVMESH_MAGIC;
  header.version = DT_NAVMESH_VERSION;
  header.x = x;
  header.y = y;
  header.layer = layer;
  header.polyCount = columns * rows;
  header.vertCount = (columns + 1) * (rows + 1);
  header.maxLinkCount = 200;
  header.walkableClimb = kClimb;
  std::string bytes;
  Append(bytes, header);
  for (const float z : zs) {
    for (const float at : xs) {
      Append(bytes, at);
      Append(bytes, base + steep * static_cast<float>(random.Between(-10, 10)) / 10.0F);
      Append(bytes, z);
    }
  }
  const auto across = [&](int column, int row, int side) {
    const bool is_inside = column >= 0 && column < columns && row >= 0 && row < rows;
    return static_cast<std::uint16_t>(is_inside ? row * columns + column + 1 : kBorder | side);
  };
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const auto vertex = [&](int right, int up) {
        return static_cast<std::uint16_t>((row + up) * (columns + 1) + column + right);
      };
      dtPoly polygon = {};
      const std::uint16_t vertices[] = {vertex(0, 0), vertex(0, 1), vertex(1, 1), vertex(1, 0)};
      const std::uint16_t neighbours[] = {across(column - 1, row, 4), across(column, row + 1, 2),
                                          across(column + 1, row, 0), across(column, row - 1, 6)};
      std::copy(std::begin(vertices), std::end(vertices), polygon.verts);
      std::copy(std::begin(neighbours), std::end(neighbours), polygon.neis);
      polygon.flags = 1;
      polygon.setArea(area++);
      polygon.vertCount = 4;
      Append(bytes, polygon);
    }
  }
  bytes.append(static_cast<std::size_t>(header.maxLinkCount) * sizeof(dtLink), '\0');
  return bytes;
}

// Two to six tiles beside each other, and sometimes more above them.
std::string RandomSet(Random& random, float steep) {
  std::vector<std::string> tiles;
  const int width = random.Between(2, 3);
  const int height = random.Between(1, 2);
  const int layers = random.Between(1, 2);
  unsigned char area = 0;
  for (int layer = 0; layer < layers; ++layer) {
    for (int x = 0; x < width; ++x) {
      for (int y = 0; y < height; ++y) {
        tiles.push_back(RandomTile(x, y, layer, static_cast<float>(layer) * 1.2F, steep, area, random));
      }
    }
  }
  std::string bytes;
  for (const int number : {0x4D534554, 1, static_cast<int>(tiles.size())}) {
    Append(bytes, number);
  }
  dtNavMeshParams params = {};
  params.tileWidth = params.tileHeight = kSide;
  Append(bytes, params);
  for (const std::string& tile : tiles) {
    Append(bytes, 1);
    Append(bytes, static_cast<int>(tile.size()));
    bytes += tile;
  }
  return bytes;
}

std::size_t CountPolygons(const dtNavMesh& mesh) {
  std::size_t count = 0;
  for (int i = 0; i < mesh.getMaxTiles() && mesh.getTile(i)->header != nullptr; ++i) {
    count += static_cast<std::size_t>(mesh.getTile(i)->header->polyCount);
  }
  return count;
}

using Links = std::set<std::pair<std::uint32_t, std::uint32_t>>;

// Polygons have numbers in the order of the file, as tiles have in a new mesh of Detour.
Links LinksOfDetour(const dtNavMesh& mesh) {
  std::vector<std::uint32_t> first = {0};
  for (int i = 0; i < mesh.getMaxTiles() && mesh.getTile(i)->header != nullptr; ++i) {
    first.push_back(first.back() + static_cast<std::uint32_t>(mesh.getTile(i)->header->polyCount));
  }
  Links links;
  for (std::size_t i = 0; i + 1 < first.size(); ++i) {
    const dtMeshTile* const tile = mesh.getTile(static_cast<int>(i));
    for (std::uint32_t k = 0; k < first[i + 1] - first[i]; ++k) {
      for (unsigned int at = tile->polys[k].firstLink; at != DT_NULL_LINK; at = tile->links[at].next) {
        const dtPolyRef to = tile->links[at].ref;
        const std::uint32_t other = first[mesh.decodePolyIdTile(to)] + mesh.decodePolyIdPoly(to);
        links.insert(std::minmax(first[i] + k, other));
      }
    }
  }
  return links;
}

// Returns the links of the mesh, whose polygons are numbered by their areas.
Links LinksByArea(const NavMesh& mesh) {
  Links links;
  for (PolygonNumber i = 0; i < mesh.polygon_count(); ++i) {
    for (const PolygonNumber neighbour : mesh.NeighboursOf(i)) {
      if (neighbour != kNoPolygon && mesh.AreaOf(i) != mesh.AreaOf(neighbour)) {
        links.insert(std::minmax<std::uint32_t>(mesh.AreaOf(i), mesh.AreaOf(neighbour)));
      }
    }
  }
  return links;
}

std::string Listed(const Links& links) {
  std::string text;
  for (const auto& [from, to] : links) {
    absl::StrAppend(&text, from, "-", to, " ");
  }
  return text;
}

// Returns the links between polygons that Detour does not connect, not even through others. Where floors lie
// within the climb of a third, the mesh may have a shorter way from one to the other than Detour.
Links NewWays(const Links& own, const Links& of_detour) {
  std::array<std::uint32_t, 64> parts;
  std::iota(parts.begin(), parts.end(), 0U);
  for (const auto& [from, to] : of_detour) {
    std::replace(parts.begin(), parts.end(), std::uint32_t{parts[from]}, std::uint32_t{parts[to]});
  }
  Links links;
  for (const auto& [from, to] : own) {
    if (parts[from] != parts[to]) {
      links.emplace(from, to);
    }
  }
  return links;
}

TEST(DetourLinksTest, LinksAreThoseOfDetourOrInANote) {
  Random random(5);
  std::size_t joined = 0;
  std::size_t noted = 0;
  for (std::uint64_t round = 0; round < Rounds(400); ++round) {
    const float steep = static_cast<float>(random.Between(0, 20)) / 10.0F;
    const std::string bytes = RandomSet(random, steep);
    const OwnedDetourMesh judge = LoadDetourFile(bytes);
    ASSERT_NE(judge, nullptr);
    const Links links = LinksOfDetour(*judge);
    ImportNotes notes;
    const absl::StatusOr<DetourMesh> detour = ParseDetourMesh(bytes, {.notes = &notes});
    ASSERT_THAT(detour, IsOk());
    const Links own = LinksByArea(detour->mesh);
    std::set<std::uint32_t> areas;
    for (PolygonNumber i = 0; i < detour->mesh.polygon_count(); ++i) {
      areas.insert(detour->mesh.AreaOf(i));
    }
    EXPECT_EQ(areas.size(), CountPolygons(*judge)) << round;
    Links lost;
    std::set_difference(links.begin(), links.end(), own.begin(), own.end(), std::inserter(lost, lost.end()));
    EXPECT_EQ(Listed(NewWays(own, links)), "") << round;
    std::size_t counted = 0;
    for (const ImportNote& note : notes.notes()) {
      counted += absl::StrContains(note.text, "missing") ? static_cast<std::size_t>(note.count) : 0;
    }
    EXPECT_EQ(counted, lost.size()) << round << ": lost " << Listed(lost);
    joined += own.size();
    noted += counted;
  }
  EXPECT_GT(joined, noted);
  EXPECT_GT(noted, 0U);
}

}  // namespace
}  // namespace waystar::core
