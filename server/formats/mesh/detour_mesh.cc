#include <DetourNavMesh.h>

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "server/core/elements/portal.h"
#include "server/core/elements/waypoint.h"
#include "server/formats/mesh/mesh_readers.h"
#include "server/formats/mesh/soup_mesh.h"

namespace waystar::core {
namespace {

constexpr std::uint32_t kSetMagic = 0x4D534554;        // 'MSET'
constexpr std::uint32_t kTileCacheMagic = 0x54534554;  // 'TSET'
constexpr std::uint32_t kEmulatorMagic = 0x4D4D4150;   // 'MMAP'
constexpr std::uint32_t kSetVersion = 1;

constexpr std::size_t kSetHeaderBytes = 40;
constexpr std::size_t kParamsBytes = sizeof(dtNavMeshParams);
// Header of a .mmtile in most emulators, and in AzerothCore, which adds Recast settings.
constexpr std::size_t kEmulatorTileBytes = 20;
constexpr std::size_t kAzerothTileBytes = 56;
// Header of a .mmap in newer versions of TrinityCore: magic, version, parameters, and the number of off-mesh
// connections that follow.
constexpr std::size_t kTrinityMapBytes = 40;
constexpr std::size_t kTrinityOffMeshBytes = 44;

using FileVertex = std::array<float, 3>;
// Three corners, and flags.
using FileTriangle = std::array<std::uint8_t, 4>;
constexpr std::size_t kShortLinkBytes = 12;
constexpr std::size_t kLongLinkBytes = 16;
static_assert(std::endian::native == std::endian::little && sizeof(dtMeshHeader) == 100 &&
                  sizeof(dtPoly) == 32 && sizeof(dtPolyDetail) == 12 && sizeof(dtBVNode) == 16 &&
                  sizeof(dtOffMeshConnection) == 36 && sizeof(dtNavMeshParams) == 28,
              "structures lie in memory as in a file");
// RC_WALKABLE_AREA of Recast.
constexpr std::uint8_t kWalkableArea = 63;

// Detour's tolerance in file units, and the relative precision of single-precision coordinates.
constexpr double kBorderTolerance = 0.01;
constexpr double kTolerancePerReach = 1.0 / (1 << 20);

template <typename T>
T At(absl::string_view bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}
std::uint32_t WordAt(absl::string_view bytes, std::size_t at) { return At<std::uint32_t>(bytes, at); }
bool HasWord(absl::string_view bytes, std::size_t at, std::uint32_t word) {
  return bytes.size() >= 4 && at <= bytes.size() - 4 && WordAt(bytes, at) == word;
}

// Consumes and returns a list of structures.
// REQUIRES: it is there.
template <typename T>
std::vector<T> TakeList(int count, absl::string_view& rest) {
  std::vector<T> list(static_cast<std::size_t>(count));
  rest.copy(reinterpret_cast<char*>(list.data()), list.size() * sizeof(T));
  rest.remove_prefix(list.size() * sizeof(T));
  return list;
}

// Returns the size of the .mmtile header at `at`, or 0 if there is none.
std::size_t EmulatorTileHeader(absl::string_view bytes, std::size_t at) {
  for (const std::size_t size : {kEmulatorTileBytes, kAzerothTileBytes}) {
    if (HasWord(bytes, at, kEmulatorMagic) && HasWord(bytes, at + size, DT_NAVMESH_MAGIC)) {
      return size;
    }
  }
  return 0;
}

// Returns the size of the set header at the start: full, without its magic, or 0 if the bytes begin with a
// tile's reference and size. Returns nullopt if this is not a set of tiles.
std::optional<std::size_t> SetHeader(absl::string_view bytes) {
  if (HasWord(bytes, 0, kSetMagic)) {
    return kSetHeaderBytes;
  }
  const auto has_tile = [&](std::size_t at) {
    return (HasWord(bytes, at + 8, DT_NAVMESH_MAGIC) && HasWord(bytes, at + 12, DT_NAVMESH_VERSION)) ||
           (HasWord(bytes, at + 16, DT_NAVMESH_MAGIC) && HasWord(bytes, at + 20, DT_NAVMESH_VERSION));
  };
  if (HasWord(bytes, 0, kSetVersion) && has_tile(kSetHeaderBytes - 4)) {
    return kSetHeaderBytes - 4;
  }
  return has_tile(0) ? std::optional<std::size_t>(0) : std::nullopt;
}

// Returns true if the bytes are only mesh parameters, a .mmap without tiles: three numbers for the origin,
// the width and height of tiles, and the maximum numbers of tiles and polygons. No text in any encoding
// decodes to such numbers.
bool IsParamsAlone(absl::string_view bytes) {
  constexpr double kLeastSide = 1e-3;
  constexpr int kMostTiles = 1 << 20;
  if (bytes.size() != kParamsBytes) {
    return false;
  }
  const auto params = At<dtNavMeshParams>(bytes, 0);
  const auto is_side = [](float side) { return side >= kLeastSide && side <= kMaxReach; };
  return is_side(params.tileWidth) && is_side(params.tileHeight) && params.maxTiles >= 1 &&
         params.maxTiles <= kMostTiles;
}

struct TileHeader : dtMeshHeader {
  // Size of the tile in bytes, with short and with long links.
  std::uint64_t short_size = 0;
  std::uint64_t long_size = 0;
};

// The lists of a tile that are read.
struct TileLists {
  std::vector<dtPoly> polygons;
  std::vector<dtPolyDetail> details;
  std::vector<FileVertex> detail_vertices;
  std::vector<FileTriangle> detail_triangles;
};

class DetourParser {
 public:
  DetourParser(absl::string_view bytes, const ImportOptions& options)
      : bytes_(bytes), options_(options), axes_(options.mesh_axes()), stop_(options.grid.stop) {}

  absl::StatusOr<DetourMesh> Parse() {
    WAYSTAR_RETURN_IF_ERROR(ReadTiles());
    double reach = 0.0;
    for (const WorldPoint& vertex : soup_.spec.vertices) {
      reach = std::max({reach, std::abs(vertex.x), std::abs(vertex.y)});
    }
    const WeldTolerance tolerance =
        WithWeld({.plan = std::max(kBorderTolerance, reach * kTolerancePerReach), .height = climb_},
                 soup_.spec, options_.weld);
    CloseGround();
    FileFaces faces{.soup = std::move(soup_)};
    SetKinds(faces);
    WeldReport report;
    WAYSTAR_ASSIGN_OR_RETURN(NavMesh mesh, MeshOfSoup(std::move(faces), tolerance, options_, &report));
    if (options_.notes != nullptr) {
      NoteLostLinks(mesh, report);
    }
    DetourMesh detour{mesh.WithAgentRadius(agent_radius_), tile_count_, 0, 0};
    WAYSTAR_RETURN_IF_ERROR(Connect(detour));
    return detour;
  }

 private:
  struct Connection {
    WorldPoint from;
    WorldPoint to;
    double radius = 0.0;
    bool is_both_ways = false;
    bool is_closed = false;
  };

  // A kind of ground in the file.
  struct Ground {
    std::uint8_t area = 0;
    std::uint16_t flags = 0;

    friend auto operator<=>(const Ground&, const Ground&) = default;
  };

  // Two polygons of the soup between which a Detour agent may step, the lower number first.
  using Link = std::pair<PolygonNumber, PolygonNumber>;

  static constexpr std::uint32_t kNoPart = std::numeric_limits<std::uint32_t>::max();

  static Link LinkOf(PolygonNumber a, PolygonNumber b) { return {std::min(a, b), std::max(a, b)}; }

  // Notes the number of Detour's links that the mesh lacks.
  void NoteLostLinks(const NavMesh& mesh, const WeldReport& report) {
    std::vector<Link> joined;
    for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
      for (const PolygonNumber neighbour : mesh.NeighboursOf(polygon)) {
        if (neighbour != kNoPolygon && polygon < neighbour) {
          joined.push_back(LinkOf(report.origins[polygon], report.origins[neighbour]));
        }
      }
    }
    std::sort(joined.begin(), joined.end());
    std::vector<std::uint32_t> parts(grounds_.size(), kNoPart);
    for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
      parts[report.origins[polygon]] = mesh.PartOf(polygon);
    }
    std::vector<Link> between_tiles;
    for (const Link& link : report.overlaps) {
      const bool is_through = parts[link.first] == kNoPart || parts[link.second] == kNoPart;
      (is_through ? links_ : between_tiles).push_back(link);
    }
    std::sort(links_.begin(), links_.end());
    links_.erase(std::unique(links_.begin(), links_.end()), links_.end());
    NoteLostThrough(parts);
    const auto note = [&](absl::string_view text, const std::vector<Link>& links) {
      const auto lost = std::count_if(links.begin(), links.end(), [&](const Link& link) {
        return !std::binary_search(joined.begin(), joined.end(), link);
      });
      Note(text, static_cast<std::size_t>(lost));
    };
    note(
        "links between tiles that Detour may make are missing: the heights differ by more than the climb, "
        "or other polygons are joined there",
        between_tiles);
    note("links within tiles are missing: polygons lie on the same side of an edge, or do not meet", links_);
  }

  // Notes the number of missing connections through polygons without area, and drops the links of these
  // polygons, which are in no part of the mesh.
  void NoteLostThrough(const std::vector<std::uint32_t>& parts) {
    // Connected polygons without area form a group, which takes the part of its first neighbour.
    std::vector<PolygonNumber> groups(grounds_.size());
    std::iota(groups.begin(), groups.end(), 0);
    const auto group_of = [&](PolygonNumber polygon) {
      while (groups[polygon] != polygon) {
        polygon = groups[polygon] = groups[groups[polygon]];
      }
      return polygon;
    };
    const auto is_gap = [&](PolygonNumber polygon) { return parts[polygon] == kNoPart; };
    for (const auto& [a, b] : links_) {
      if (is_gap(a) && is_gap(b)) {
        groups[group_of(a)] = group_of(b);
      }
    }
    std::vector<std::uint32_t> group_parts(grounds_.size(), kNoPart);
    std::size_t lost = 0;
    for (const auto& [a, b] : links_) {
      if (is_gap(a) != is_gap(b)) {
        std::uint32_t& part = group_parts[group_of(is_gap(a) ? a : b)];
        const std::uint32_t next = parts[is_gap(a) ? b : a];
        part = part == kNoPart ? next : part;
        lost += part != next ? 1 : 0;
      }
    }
    Note("links through polygons without an area, seen from above, are missing", lost);
    std::erase_if(links_, [&](const Link& link) { return is_gap(link.first) || is_gap(link.second); });
  }

  // Converts the connections to portals.
  absl::Status Connect(DetourMesh& detour) const {
    MeshBatchEditor editor(detour.mesh);
    std::size_t closed = 0;
    for (std::size_t i = 0; i < connections_.size() && detour.portal_count < kMaxMeshPortals; ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, i));
      const Connection& connection = connections_[i];
      const auto nearest = [&](const WorldPoint& end) {
        return detour.mesh.FindNearestByBox(
            {.position = end, .radius = std::max(connection.radius, kMeshTolerance), .height = climb_});
      };
      const std::optional<MeshPlace> from = nearest(connection.from);
      const std::optional<MeshPlace> to = nearest(connection.to);
      if (!from || !to) {
        continue;
      }
      const bool is_closed = connection.is_closed && has_flags_;
      const Edit edit = PutMeshPortal{.portal = {.id = absl::StrCat("off-mesh-", detour.portal_count + 1),
                                                 .from = from->point,
                                                 .to_map = "",
                                                 .to = to->point,
                                                 .cost = Distance(from->point, to->point),
                                                 .both_ways = connection.is_both_ways,
                                                 .tags = {},
                                                 .closed = is_closed}};
      const bool is_made = editor.Apply({&edit, 1}, absl::UnixEpoch()).ok();
      detour.portal_count += is_made ? 1 : 0;
      closed += is_made && is_closed ? 1 : 0;
    }
    detour.passed_over = connection_count_ - detour.portal_count;
    Note("portals of off-mesh connections with flags 0, which no filter passes, are closed", closed);
    detour.mesh = std::move(editor).Finish();
    return absl::OkStatus();
  }

  absl::Status ReadTiles() {
    if (const std::optional<std::size_t> header = SetHeader(bytes_)) {
      return ReadSet(*header);
    }
    if (HasWord(bytes_, 0, kTileCacheMagic)) {
      return BadFormat(
          "the file is a tile cache (TSET): compressed layers of voxels, and no mesh: save the mesh that it "
          "makes, as a set of tiles (MSET)");
    }
    return HasWord(bytes_, 0, DT_NAVMESH_MAGIC) ? ReadBareTiles() : ReadEmulatorTiles();
  }

  absl::Status ReadSet(std::size_t header) {
    if (bytes_.size() < header) {
      return BadFormat("the file ends in its header");
    }
    // Without a header the tiles end at the end of the file.
    std::uint32_t count = std::numeric_limits<std::uint32_t>::max();
    if (header > 0) {
      const std::size_t version_at = header + 4 - kSetHeaderBytes;
      if (const auto version = WordAt(bytes_, version_at); version != kSetVersion) {
        return BadFormat(absl::StrCat("version ", version, " of a set of tiles is not read"));
      }
      count = WordAt(bytes_, version_at + 4);
    }
    // A tile's reference and size take 8 bytes with 32-bit references, 16 with 64-bit ones.
    const bool is_short = HasWord(bytes_, header + 8, DT_NAVMESH_MAGIC);
    const std::size_t head = is_short ? 8 : 16;
    const std::size_t size_at = is_short ? 4 : 8;
    std::size_t at = header;
    while (header > 0 ? tile_count_ < count : at < bytes_.size()) {
      if (bytes_.size() - at < head) {
        return BadFormat(header > 0 ? absl::StrCat("the file ends before tile ", tile_count_, " of ", count)
                                    : absl::StrCat("the file ends in the head of tile ", tile_count_));
      }
      const auto size = WordAt(bytes_, at + size_at);
      at += head;
      WAYSTAR_RETURN_IF_ERROR(ReadTile(at, size));
      at += size;
    }
    return at == bytes_.size()
               ? absl::OkStatus()
               : BadFormat(absl::StrCat("there are bytes after the last of ", count, " tiles"));
  }

  absl::Status ReadBareTiles() {
    for (std::size_t at = 0; at < bytes_.size();) {
      WAYSTAR_ASSIGN_OR_RETURN(const TileHeader header, ReadHeader(at));
      const std::uint64_t left = bytes_.size() - at;
      const auto fits = [&](std::uint64_t size) {
        return size == left || (size < left && HasWord(bytes_, at + size, DT_NAVMESH_MAGIC));
      };
      const std::uint64_t size = fits(header.short_size) ? header.short_size : header.long_size;
      WAYSTAR_RETURN_IF_ERROR(ReadTile(at, size));
      at += size;
    }
    return absl::OkStatus();
  }

  absl::Status ReadEmulatorTiles() {
    std::size_t at = 0;
    if (EmulatorTileHeader(bytes_, 0) == 0) {
      WAYSTAR_ASSIGN_OR_RETURN(at, MapHeaderBytes());
    }
    if (at == bytes_.size()) {
      return NoTiles();
    }
    while (at < bytes_.size()) {
      const std::size_t head = EmulatorTileHeader(bytes_, at);
      if (head == 0) {
        return BadFormat(absl::StrCat("no tile begins where tile ", tile_count_, " should be, at byte ", at));
      }
      const auto size = WordAt(bytes_, at + 12);
      at += head;
      WAYSTAR_RETURN_IF_ERROR(ReadTile(at, size));
      at += size;
    }
    return absl::OkStatus();
  }

  static absl::Status NoTiles() {
    return BadFormat("the file holds no tile of Detour; a .mmap needs the .mmtile of its map behind it");
  }

  // Returns the size of the .mmap at the start of the file.
  absl::StatusOr<std::size_t> MapHeaderBytes() const {
    if (bytes_.size() < kParamsBytes) {
      return BadFormat("the file holds no tile of Detour");
    }
    if (!HasWord(bytes_, 0, kEmulatorMagic)) {
      return HasWord(bytes_, kParamsBytes, kEmulatorMagic) ? absl::StatusOr<std::size_t>(kParamsBytes)
                                                           : NoTiles();
    }
    if (bytes_.size() < kTrinityMapBytes) {
      return BadFormat("the file ends in its header");
    }
    const std::uint64_t connections = WordAt(bytes_, kTrinityMapBytes - 4);
    const std::uint64_t size = kTrinityMapBytes + connections * kTrinityOffMeshBytes;
    if (size > bytes_.size()) {
      return BadFormat(
          absl::StrCat("the file is too short for the ", connections, " off-mesh connections of its header"));
    }
    return static_cast<std::size_t>(size);
  }

  WorldPoint PointOf(const float* numbers) const {
    return FromAxes(axes_, numbers[0], numbers[1], numbers[2]);
  }

  absl::Status BadTile(absl::string_view message) const {
    return BadFormat(absl::StrCat("tile ", tile_count_, ": ", message));
  }

  absl::StatusOr<TileHeader> ReadHeader(std::size_t at) const {
    if (at > bytes_.size() || bytes_.size() - at < sizeof(dtMeshHeader)) {
      return BadTile("the file ends in its header");
    }
    TileHeader tile{At<dtMeshHeader>(bytes_, at)};
    if (tile.magic != DT_NAVMESH_MAGIC) {
      return BadTile("it does not begin as a tile of Detour does");
    }
    if (tile.version != DT_NAVMESH_VERSION) {
      return BadTile(absl::StrCat("version ", WordAt(bytes_, at + 4), " of tiles is not read, but ",
                                  DT_NAVMESH_VERSION, " is"));
    }
    tile.short_size = sizeof(dtMeshHeader);
    for (const auto& [count, bytes] :
         {std::pair(tile.polyCount, sizeof(dtPoly)), std::pair(tile.vertCount, sizeof(FileVertex)),
          std::pair(tile.maxLinkCount, kShortLinkBytes),
          std::pair(tile.detailMeshCount, sizeof(dtPolyDetail)),
          std::pair(tile.detailVertCount, sizeof(FileVertex)),
          std::pair(tile.detailTriCount, sizeof(FileTriangle)), std::pair(tile.bvNodeCount, sizeof(dtBVNode)),
          std::pair(tile.offMeshConCount, sizeof(dtOffMeshConnection))}) {
      if (count < 0) {
        return BadTile("a list has a negative size");
      }
      tile.short_size += static_cast<std::uint64_t>(count) * bytes;
    }
    tile.long_size =
        tile.short_size + static_cast<std::uint64_t>(tile.maxLinkCount) * (kLongLinkBytes - kShortLinkBytes);
    if (!(tile.walkableClimb >= 0.0F && tile.walkableClimb <= kMaxReach)) {
      return BadTile("what an agent can climb is not a height");
    }
    return tile;
  }

  // Appends the polygons of a tile.
  absl::Status ReadTile(std::size_t at, std::uint64_t size) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
    WAYSTAR_ASSIGN_OR_RETURN(const TileHeader header, ReadHeader(at));
    if (size > bytes_.size() - at) {
      return BadTile(absl::StrCat("the file is too short for its ", size, " bytes"));
    }
    if (size != header.short_size && size != header.long_size) {
      return BadTile(absl::StrCat("its lists have ", header.short_size, " bytes together, or ",
                                  header.long_size, " with references of 64 bits, but the tile has ", size));
    }
    if (!places_.insert(std::tuple(header.x, header.y, header.layer)).second) {
      return BadTile("another one has the same place and layer");
    }
    climb_ = std::max(climb_, double{header.walkableClimb});
    if (header.walkableRadius <= kMaxMeshAgentRadius) {
      agent_radius_ = std::max(agent_radius_, double{header.walkableRadius});
    }
    absl::string_view rest = bytes_.substr(at + sizeof(dtMeshHeader), size - sizeof(dtMeshHeader));
    const auto vertices = TakeList<FileVertex>(header.vertCount, rest);
    TileLists lists{.polygons = TakeList<dtPoly>(header.polyCount, rest)};
    rest.remove_prefix(static_cast<std::size_t>(header.maxLinkCount) *
                       (size == header.long_size ? kLongLinkBytes : kShortLinkBytes));
    lists.details = TakeList<dtPolyDetail>(header.detailMeshCount, rest);
    lists.detail_vertices = TakeList<FileVertex>(header.detailVertCount, rest);
    lists.detail_triangles = TakeList<FileTriangle>(header.detailTriCount, rest);
    rest.remove_prefix(static_cast<std::size_t>(header.bvNodeCount) * sizeof(dtBVNode));
    const std::size_t first_vertex = soup_.spec.vertices.size();
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, i));
      soup_.spec.vertices.push_back(PointOf(vertices[i].data()));
      if (!CheckPosition(soup_.spec.vertices.back()).ok()) {
        return BadTile(absl::StrCat("vertex ", i, ": coordinates are from ", -kMaxReach, " to ", kMaxReach));
      }
    }
    // Maps polygons of the tile to polygons of the soup.
    std::vector<PolygonNumber> numbers;
    const std::size_t first_link = links_.size();
    for (std::size_t i = 0; i < lists.polygons.size(); ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, i));
      const std::size_t before = soup_.spec.polygons.size();
      absl::Status status = ReadPolygon(lists.polygons[i], vertices.size(), first_vertex);
      if (status.ok() && soup_.spec.polygons.size() > before) {
        status = ReadDetail(lists, i);
      }
      if (!status.ok()) {
        return BadTile(absl::StrCat("polygon ", i, ": ", status.message()));
      }
      numbers.push_back(soup_.spec.polygons.size() > before ? static_cast<PolygonNumber>(before)
                                                            : kNoPolygon);
    }
    for (std::size_t i = first_link; i < links_.size(); ++i) {
      const auto [polygon, other] = links_[i];
      links_[i] = LinkOf(polygon, other < numbers.size() ? numbers[other] : kNoPolygon);
    }
    for (const auto& connection : TakeList<dtOffMeshConnection>(header.offMeshConCount, rest)) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, connection_count_));
      ReadConnection(connection,
                     connection.poly < lists.polygons.size() && lists.polygons[connection.poly].flags == 0);
    }
    ++tile_count_;
    return absl::OkStatus();
  }

  // Reads the finer ground of the last polygon, which has this number in its tile.
  absl::Status ReadDetail(const TileLists& tile, std::size_t number) {
    if (number >= tile.details.size()) {
      soup_.spec.detail.Add({});
      return absl::OkStatus();
    }
    const dtPolyDetail& detail = tile.details[number];
    const std::size_t first_vertex = detail.vertBase;
    const std::size_t first_triangle = detail.triBase;
    const std::size_t corner_count = soup_.spec.polygons.back().corner_count;
    if (first_vertex + detail.vertCount > tile.detail_vertices.size() ||
        first_triangle + detail.triCount > tile.detail_triangles.size() ||
        corner_count + detail.vertCount > kMaxDetailPoints) {
      return BadFormat("its finer ground is not in the lists of the tile");
    }
    std::vector<DetailPoint> points;
    const auto add = [&](const WorldPoint& point) {
      points.push_back(
          {static_cast<float>(point.x), static_cast<float>(point.y), static_cast<float>(point.z)});
      return CheckPosition(point).ok();
    };
    bool is_valid = true;
    for (const std::uint32_t corner : absl::MakeConstSpan(soup_.spec.corners).last(corner_count)) {
      add(soup_.spec.vertices[corner]);
    }
    for (const FileVertex& vertex :
         absl::MakeConstSpan(tile.detail_vertices).subspan(first_vertex, detail.vertCount)) {
      is_valid = add(PointOf(vertex.data())) && is_valid;
    }
    std::vector<DetailTriangle> triangles;
    for (const FileTriangle& corners :
         absl::MakeConstSpan(tile.detail_triangles).subspan(first_triangle, detail.triCount)) {
      DetailTriangle& triangle = triangles.emplace_back();
      for (std::size_t k = 0; k < triangle.size(); ++k) {
        triangle[k] = corners[k];
        is_valid = is_valid && triangle[k] < points.size();
      }
    }
    if (!is_valid) {
      return BadFormat("its finer ground has no such vertex");
    }
    soup_.spec.detail.Add(points, triangles);
    return absl::OkStatus();
  }

  void ReadConnection(const dtOffMeshConnection& read, bool is_closed) {
    const Connection connection{.from = PointOf(read.pos),
                                .to = PointOf(read.pos + 3),
                                .radius = read.rad,
                                .is_both_ways = (read.flags & DT_OFFMESH_CON_BIDIR) != 0,
                                .is_closed = is_closed};
    ++connection_count_;
    // Written so that NaN fails.
    if (CheckPosition(connection.from).ok() && CheckPosition(connection.to).ok() &&
        connection.radius >= 0.0 && connection.radius <= kMaxReach) {
      connections_.push_back(connection);
    }
  }

  absl::Status ReadPolygon(const dtPoly& polygon, std::size_t vertex_count, std::size_t first_vertex) {
    if (polygon.getType() == DT_POLYTYPE_OFFMESH_CONNECTION) {
      return absl::OkStatus();
    }
    if (polygon.getType() != DT_POLYTYPE_GROUND) {
      return BadFormat(absl::StrCat("there is no type ", int{polygon.getType()}, " of polygons"));
    }
    if (polygon.vertCount < 3 || polygon.vertCount > DT_VERTS_PER_POLYGON) {
      return BadFormat(absl::StrCat("a polygon has from 3 to ", DT_VERTS_PER_POLYGON,
                                    " vertices, and this one ", int{polygon.vertCount}));
    }
    for (std::size_t k = 0; k < polygon.vertCount; ++k) {
      const std::uint32_t vertex = polygon.verts[k];
      if (vertex >= vertex_count) {
        return BadFormat(absl::StrCat("there is no vertex ", vertex, ": the tile has ", vertex_count));
      }
      soup_.spec.corners.push_back(static_cast<std::uint32_t>(first_vertex + vertex));
      soup_.seams.push_back((polygon.neis[k] & DT_EXT_LINK) != 0);
      if (polygon.neis[k] != 0 && !soup_.seams.back()) {
        // Neighbours are numbered from 1, within the tile.
        links_.emplace_back(static_cast<PolygonNumber>(grounds_.size()), polygon.neis[k] - 1U);
      }
    }
    soup_.spec.polygons.push_back({.corner_count = polygon.vertCount});
    grounds_.push_back({.area = polygon.getArea(), .flags = polygon.flags});
    has_flags_ = has_flags_ || polygon.flags != 0;
    return absl::OkStatus();
  }

  // Drops the polygons that no Detour filter passes.
  void CloseGround() {
    MeshSoup open;
    std::size_t first = 0;
    std::vector<PolygonNumber> numbers;
    for (std::size_t i = 0; i < grounds_.size(); ++i) {
      const MeshPolygon& polygon = soup_.spec.polygons[i];
      const bool is_open = grounds_[i].flags != 0 || !has_flags_;
      numbers.push_back(is_open ? static_cast<PolygonNumber>(open.spec.polygons.size()) : kNoPolygon);
      if (is_open) {
        open.spec.AddPolygon(absl::MakeConstSpan(soup_.spec.corners).subspan(first, polygon.corner_count));
        open.seams.insert(open.seams.end(), soup_.seams.begin() + static_cast<std::ptrdiff_t>(first),
                          soup_.seams.begin() + static_cast<std::ptrdiff_t>(first + polygon.corner_count));
        open.spec.detail.Add(soup_.spec.detail.Of(i));
      }
      first += polygon.corner_count;
    }
    Note("polygons with flags 0, which no filter passes, are closed",
         grounds_.size() - open.spec.polygons.size());
    if (!has_flags_) {
      Note("all flags are 0, as if they were set later, and all polygons are open", 1);
    }
    std::erase_if(grounds_, [&](const Ground& ground) { return ground.flags == 0 && has_flags_; });
    open.spec.vertices = std::move(soup_.spec.vertices);
    soup_ = std::move(open);
    std::vector<Link> links;
    for (const auto& [a, b] : links_) {
      if (a != b && b != kNoPolygon && numbers[a] != kNoPolygon && numbers[b] != kNoPolygon) {
        links.push_back(LinkOf(numbers[a], numbers[b]));
      }
    }
    links_ = std::move(links);
  }

  // Makes a kind of each pair of an area and flags, the commonest first.
  void SetKinds(FileFaces& faces) const {
    std::map<Ground, std::size_t> counts;
    for (const Ground& ground : grounds_) {
      ++counts[ground];
    }
    std::vector<std::pair<Ground, std::size_t>> commonest(counts.begin(), counts.end());
    std::ranges::stable_sort(commonest, std::ranges::greater(), &std::pair<Ground, std::size_t>::second);
    faces.kinds.clear();
    std::map<Ground, std::uint32_t> kinds;
    std::bitset<kMaxMeshAreas> is_named;
    for (const auto& [ground, count] : commonest) {
      MeshTerrain terrain = DefaultMeshTerrain(ground.area);
      terrain.name = ground.area == kWalkableArea ? "walkable" : terrain.name;
      if (is_named[ground.area]) {
        absl::StrAppend(&terrain.name, "-flags-0x", absl::Hex(ground.flags, absl::kZeroPad4));
      }
      is_named.set(ground.area);
      terrain.tags = BitTags("flag-", 0, ground.flags);
      kinds[ground] = static_cast<std::uint32_t>(faces.kinds.size());
      faces.kinds.push_back({.terrain = std::move(terrain), .area = ground.area});
    }
    for (const Ground& ground : grounds_) {
      faces.kind_of_polygon.push_back(kinds[ground]);
    }
  }

  void Note(absl::string_view text, std::size_t count) const {
    if (options_.notes != nullptr && count > 0) {
      options_.notes->Add(text, "", static_cast<std::int64_t>(count));
    }
  }

  absl::string_view bytes_;
  const ImportOptions& options_;
  MeshAxes axes_;
  const StopCheck* stop_;
  MeshSoup soup_;
  // Ground of each polygon, of open ones alone after CloseGround.
  std::vector<Ground> grounds_;
  // True if any polygon has flags. Some programs set flags only after loading the mesh.
  bool has_flags_ = false;
  // Links within tiles. ReadPolygon stores the second polygon by its number in the tile.
  std::vector<Link> links_;
  // Position of each tile: x, y and layer.
  absl::flat_hash_set<std::tuple<int, int, int>> places_;
  // Maxima over the tiles.
  double climb_ = 0.0;
  double agent_radius_ = 0.0;
  std::size_t tile_count_ = 0;
  // Only connections with valid numbers; connection_count_ counts all.
  std::vector<Connection> connections_;
  std::size_t connection_count_ = 0;
};

}  // namespace

bool LooksLikeDetourMesh(absl::string_view bytes) {
  if (HasWord(bytes, 0, kSetMagic) || HasWord(bytes, 0, kTileCacheMagic)) {
    return HasWord(bytes, 4, kSetVersion);
  }
  if (HasWord(bytes, 0, DT_NAVMESH_MAGIC)) {
    return HasWord(bytes, 4, DT_NAVMESH_VERSION);
  }
  if (SetHeader(bytes)) {
    return true;
  }
  if (EmulatorTileHeader(bytes, 0) != 0 || EmulatorTileHeader(bytes, kParamsBytes) != 0 ||
      IsParamsAlone(bytes)) {
    return true;
  }
  // A version is a small number, which excludes text.
  constexpr std::uint32_t kMaxVersion = 255;
  return HasWord(bytes, 0, kEmulatorMagic) && bytes.size() >= kTrinityMapBytes &&
         WordAt(bytes, 4) <= kMaxVersion;
}

absl::StatusOr<DetourMesh> ParseDetourMesh(absl::string_view bytes, const ImportOptions& options) {
  return DetourParser(bytes, options).Parse();
}

}  // namespace waystar::core
