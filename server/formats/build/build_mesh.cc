#include "server/formats/build/build_mesh.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/core/mesh/map/mesh_weld.h"
#include "server/formats/build/tile_mesh.h"
#include "server/formats/detect/import_map.h"
#include "server/formats/mesh/mesh_readers.h"
#include "server/formats/mesh/soup_mesh.h"

namespace waystar::level {
namespace {

// Queue of tiles to build.
//
// Thread safety: any number of threads may call Work.
class TileWork {
 public:
  TileWork(const LevelGeometry& geometry, const BuildSettings& settings, const TileGrid& grid,
           const StopCheck* stop)
      : geometry_(geometry),
        settings_(settings),
        grid_(grid),
        stop_(stop),
        built_(grid.tile_count(), absl::StatusOr<TileMesh>(TileMesh())),
        thrown_(grid.tile_count()) {}

  // Builds tiles until none are left or one has failed.
  void Work() noexcept {
    while (!has_failed_) {
      const std::size_t tile = next_++;
      if (tile >= built_.size()) {
        return;
      }
      try {
        built_[tile] = BuildTile(geometry_, settings_, grid_, tile, stop_);
      } catch (...) {
        thrown_[tile] = std::current_exception();
      }
      if (!built_[tile].ok() || thrown_[tile]) {
        has_failed_ = true;
      }
    }
  }

  // Returns the tiles, or the error of the first failed one. Tiles are begun in order, so this does not
  // depend on timing.
  // REQUIRES: all calls of Work have returned.
  absl::StatusOr<std::vector<TileMesh>> Take() {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
    std::vector<TileMesh> tiles;
    tiles.reserve(built_.size());
    for (std::size_t i = 0; i < built_.size(); ++i) {
      if (thrown_[i]) {
        std::rethrow_exception(thrown_[i]);
      }
      WAYSTAR_RETURN_IF_ERROR(built_[i].status());
      tiles.push_back(*std::move(built_[i]));
    }
    return tiles;
  }

 private:
  const LevelGeometry& geometry_;
  const BuildSettings& settings_;
  const TileGrid& grid_;
  const StopCheck* const stop_;
  // Indexed by tile; each element is written by one thread.
  std::vector<absl::StatusOr<TileMesh>> built_;
  std::vector<std::exception_ptr> thrown_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> has_failed_ = false;
};

absl::StatusOr<std::vector<TileMesh>> BuildTiles(const LevelGeometry& geometry, const BuildSettings& settings,
                                                 const TileGrid& grid, int threads, const StopCheck* stop) {
  TileWork work(geometry, settings, grid, stop);
  {
    std::vector<std::jthread> helpers;
    const std::size_t wanted = std::min(static_cast<std::size_t>(threads), grid.tile_count());
    helpers.reserve(wanted);
    while (helpers.size() + 1 < wanted) {
      try {
        helpers.emplace_back([&work] { work.Work(); });
      } catch (const std::system_error&) {
        break;
      }
    }
    work.Work();
  }
  return work.Take();
}

// Returns the error for a level without a mesh, with the cause if the geometry shows it.
absl::Status NoGround(const LevelGeometry& geometry) {
  const bool looks_up =
      std::any_of(geometry.triangles.begin(), geometry.triangles.end(), [&](const auto& triangle) {
        const core::WorldPoint& a = geometry.vertices[triangle[0]];
        const core::WorldPoint& b = geometry.vertices[triangle[1]];
        const core::WorldPoint& c = geometry.vertices[triangle[2]];
        return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) > 0.0;
      });
  return MakeError(ErrorReason::kBadSize, "",
                   looks_up ? "there is no place in the level where such an agent can stand"
                            : "no face of the level looks up: its axes are others, or its faces run the "
                              "other way round");
}

void AddDetail(const TileMesh& tile, const BuildSettings& settings, const core::WorldPoint& origin,
               core::MeshDetail& detail) {
  const double low_x = origin.x + static_cast<double>(tile.detail_origin.x) * settings.cell_size;
  const double low_y = origin.y + static_cast<double>(tile.detail_origin.y) * settings.cell_size;
  const double low_z = origin.z + tile.detail_origin.z * settings.cell_height;
  std::vector<core::DetailPoint> points;
  for (std::size_t i = 0; i < tile.detail.polygon_count(); ++i) {
    const core::PolygonDetail ground = tile.detail.Of(i);
    points.clear();
    for (const core::DetailPoint& point : ground.points) {
      points.push_back({static_cast<float>(low_x + point.x * settings.cell_size),
                        static_cast<float>(low_y + point.y * settings.cell_size),
                        static_cast<float>(low_z + point.z * settings.cell_height)});
    }
    detail.Add(points, ground.triangles);
  }
}

absl::StatusOr<core::FileFaces> JoinTiles(std::vector<TileMesh> tiles, const BuildSettings& settings,
                                          const core::WorldPoint& origin, const StopCheck* stop) {
  core::FileFaces faces;
  core::MeshSoup& soup = faces.soup;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, i));
    const TileMesh tile = std::move(tiles[i]);
    const auto first = static_cast<std::uint32_t>(soup.spec.vertices.size());
    if (first + tile.vertices.size() > 2 * core::kMaxMeshVertices ||
        soup.spec.polygons.size() + tile.corner_counts.size() > core::kMaxMeshPolygons) {
      return MakeError(ErrorReason::kBadSize, "",
                       absl::StrCat("the mesh of the level would have more than ", core::kMaxMeshVertices,
                                    " vertices: give a larger cell_size, or a larger min_region_area"));
    }
    for (const LatticePoint& point : tile.vertices) {
      soup.spec.vertices.push_back({origin.x + static_cast<double>(point.x) * settings.cell_size,
                                    origin.y + static_cast<double>(point.y) * settings.cell_size,
                                    origin.z + point.z * settings.cell_height});
    }
    AddDetail(tile, settings, origin, soup.spec.detail);
    for (const std::uint8_t count : tile.corner_counts) {
      soup.spec.polygons.push_back({count, 0});
    }
    for (const std::uint32_t corner : tile.corners) {
      soup.spec.corners.push_back(first + corner);
    }
    soup.seams.insert(soup.seams.end(), tile.seams.begin(), tile.seams.end());
    faces.kind_of_polygon.insert(faces.kind_of_polygon.end(), tile.kinds.begin(), tile.kinds.end());
  }
  return faces;
}

// Adds the size of the agent in a line.
absl::Status AddAgent(absl::Span<const absl::string_view> words, std::vector<BuildSettings>& sizes) {
  double radius = 0.0;
  double height = 0.0;
  if (words.size() != 4 || words[0] != "agent" || !absl::SimpleAtod(words[2], &radius) ||
      !absl::SimpleAtod(words[3], &height)) {
    return core::BadFormat("expected \"agent NAME RADIUS HEIGHT\"");
  }
  const absl::StatusOr<BuildSettings> settings =
      MakeSettings({.agent_radius = radius, .agent_height = height});
  if (!settings.ok()) {
    return core::BadFormat(absl::StrCat(ErrorFieldOf(settings.status()), ": ", settings.status().message()));
  }
  if (!sizes.empty() && radius <= sizes.back().agent_radius) {
    return core::BadFormat(absl::StrCat("the radius must be above that of the agent before it, ",
                                        sizes.back().agent_radius, ", got ", radius));
  }
  if (sizes.size() == core::kMaxMeshSurfaces) {
    return core::BadFormat(absl::StrCat("a mesh has at most ", core::kMaxMeshSurfaces, " surfaces"));
  }
  sizes.push_back(*settings);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<BuildSettings>> ParseAgents(absl::string_view text) {
  std::vector<BuildSettings> sizes;
  core::LineReader lines(text);
  while (const std::optional<absl::string_view> line = lines.Next()) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(*line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (words.empty() || words.front().front() == '#') {
      continue;
    }
    if (const absl::Status status = AddAgent(words, sizes); !status.ok()) {
      return core::BadFormat(absl::StrCat("agents, line ", lines.line_number(), ": ", status.message()));
    }
  }
  if (sizes.empty()) {
    return core::BadFormat("agents: the file lists none");
  }
  return sizes;
}

}  // namespace

absl::StatusOr<core::NavMesh> BuildMesh(const LevelGeometry& geometry, const BuildSettings& settings,
                                        int threads, const core::ImportOptions& options) {
  assert(threads > 0);
  const StopCheck* const stop = options.grid.stop;
  WAYSTAR_ASSIGN_OR_RETURN(const TileGrid grid, TileGrid::Create(geometry, settings, stop));
  WAYSTAR_ASSIGN_OR_RETURN(std::vector<TileMesh> tiles, BuildTiles(geometry, settings, grid, threads, stop));
  WAYSTAR_ASSIGN_OR_RETURN(core::FileFaces faces, JoinTiles(std::move(tiles), settings, grid.origin(), stop));
  // Corners of all tiles lie on one lattice. Along a border one tile may be straight where the other follows
  // the ground, but floors are farther apart than that.
  const core::WeldTolerance tolerance = {
      .plan = 0.0, .height = std::max(settings.agent_climb, settings.agent_height / 2.0)};
  core::WeldReport report;
  WAYSTAR_ASSIGN_OR_RETURN(core::MeshSpec spec,
                           core::WeldMesh(std::move(faces.soup), tolerance, stop, &report));
  if (spec.polygons.empty()) {
    return NoGround(geometry);
  }
  faces.kinds = geometry.kinds;
  core::SetTerrains(faces, report.origins, options.notes, spec);
  return core::MeshOfSpec(std::move(spec), options);
}

absl::StatusOr<core::AnyMap> BuildLevel(core::MapFormat format, absl::string_view bytes,
                                        absl::Span<const BuildSettings> sizes,
                                        const core::ImportOptions& options) {
  WAYSTAR_RETURN_IF_ERROR(core::CheckImportOptions(format, options));
  if (options.weld.has_value()) {
    return MakeError(ErrorReason::kBadValue, core::kWeldField,
                     "it joins the faces of a ready mesh, and `build` makes one of a level");
  }
  if (options.agent_radius.has_value() && sizes.size() > 1) {
    return MakeError(ErrorReason::kBadValue, core::kAgentRadiusField,
                     "each of several surfaces has the radius that it is built for");
  }
  WAYSTAR_ASSIGN_OR_RETURN(LevelGeometry geometry, ParseLevel(format, bytes, options));
  const std::size_t kinds =
      sizes.size() == 1 ? 0 : std::min<std::size_t>(geometry.kinds.size(), core::kMaxMeshAreas);
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    geometry.kinds[kind].area = static_cast<std::uint8_t>(kind);
  }
  const int threads = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
  std::vector<core::NavMesh> surfaces;
  for (const BuildSettings& settings : sizes) {
    const absl::StatusOr<core::NavMesh> mesh = BuildMesh(geometry, settings, threads, options);
    if (sizes.size() > 1 && ErrorReasonOf(mesh.status()) == ErrorReasonName(ErrorReason::kBadSize)) {
      return MakeError(
          ErrorReason::kBadSize, "",
          absl::StrCat("for agents of radius ", settings.agent_radius, ": ", mesh.status().message()));
    }
    WAYSTAR_RETURN_IF_ERROR(mesh.status());
    surfaces.push_back(mesh->WithAgentRadius(options.agent_radius.value_or(settings.agent_radius)));
  }
  absl::StatusOr<core::AnyMap> map;
  map.emplace(surfaces.front().WithLarger({surfaces.begin() + 1, surfaces.end()}));
  return map;
}

absl::StatusOr<core::AnyMap> BuildForAgents(core::MapFormat format, absl::string_view bytes,
                                            absl::string_view agents, const core::ImportOptions& options) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<BuildSettings> sizes, ParseAgents(agents));
  return BuildLevel(format, bytes, sizes, options);
}

}  // namespace waystar::level
