// Readers of files whose faces are a navigation mesh: Polyanya, Godot, Unity, Wavefront OBJ, glTF
// and Detour.
//
// Faces of all but Polyanya may have their own vertices, and meet in the middle of each other's edges:
// WeldMesh joins them. Memory is proportional to the bytes. Readers use the axes, weld, notes and stop of the
// options that their format has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/mesh/map/mesh_weld.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/formats/parts/import_options.h"

namespace waystar::core {

// A kind of ground in a file. The name is that of the file.
struct FileGround {
  MeshTerrain terrain;
  // Its number in the file, if it has one.
  std::optional<std::uint8_t> area;

  friend bool operator==(const FileGround&, const FileGround&) = default;
};

// Polygons of a file, and what it says of their ground.
struct FileFaces {
  MeshSoup soup;
  // The first is by default the ground of which the file says nothing.
  std::vector<FileGround> kinds = {{.terrain = DefaultMeshTerrain(0), .area = 0}};
  // For each polygon, its place in `kinds`. If empty, all are of the first kind.
  std::vector<std::uint32_t> kind_of_polygon;
  // Kinds by the names of materials.
  absl::flat_hash_map<std::string, std::uint32_t> materials = {{"", 0}, {"ground", 0}};

  // Returns the place in `kinds` of the material, which is added if it is new.
  std::uint32_t KindOfMaterial(absl::string_view name);
};

// Polyanya: meshes of the Polyanya search (.mesh): polygons in a plane, as words of text.
//
// Format: Cui, Harabor, Grastien, "Compromise-free Pathfinding on a Navigation Mesh" (2017), and its
// programs.
//   mesh VERSION        2 or 3
//   VERTICES POLYGONS   how many there are
// In version 2 a vertex is `x y n p...`, with the n polygons around it. A polygon is `n v... p...`: its n
// vertices counterclockwise, and for each of them the polygon across the edge that ends there, or -1 for a
// wall. Numbers are counted from 0. In version 3 a vertex is `x y`, and a polygon begins with 1 if it is
// walkable, else 0. Numbers are counted from 1; the polygon across an edge is positive if the edge is open,
// negative if it is closed, and 0 if there is none. Words are separated by white space.
//
// Height and area are 0 throughout. Unwalkable polygons and unused vertices are dropped; the others are
// renumbered in order. The polygons around a vertex are skipped.

// The first bytes of such a file.
inline constexpr absl::string_view kPolyanyaMeshMagic = "mesh";

// Returns INVALID_ARGUMENT without a field: BAD_FORMAT naming the line, also for polygons that
// NavMesh::Create rejects, or BAD_SIZE if there are too many or none; or the error of `stop`.
absl::StatusOr<NavMesh> ParsePolyanyaMesh(absl::string_view bytes, const ImportOptions& options = {});

// Godot: navigation meshes in text files, resources (.tres) and scenes (.tscn), versions 3 and 4.
//
// Reads `vertices` and `polygons` of all resources of type NavigationMesh, with 3D vertices, and
// NavigationPolygon, with 2D vertices that stay as they are whatever the axes, at height 0:
//   vertices = PackedVector3Array(x, y, z, ...)
//   polygons = [PackedInt32Array(0, 1, 2), ...]
// Version 3 has PoolVector3Array and PoolIntArray instead. Everything else is skipped. The polygons of all
// resources form one mesh, even where they overlap: WeldMesh joins equal edges.
//
// `travel_cost`, moved into the range of costs, and `navigation_layers` of the first node that uses a
// resource are its kind of ground: "ground" if they are the defaults, else named like the first such node,
// with the tags "layer-1" and so on. Ground without layers is impassable. If all are defaults, there are no
// tags.
//
// Nodes may transform the regions of a scene; this is not supported. A scene is rejected if a node that uses
// one of these resources, or an ancestor of it, is moved, rotated or scaled. Scenes and resources in other
// files, and binary files (.scn, .res), are not read.

// Returns true if the bytes begin like a Godot text file, after comments.
bool LooksLikeGodotMesh(absl::string_view bytes);

// Returns the mesh that MeshOfFile makes, or INVALID_ARGUMENT / BAD_FORMAT without a field, naming the line
// or the moved node.
absl::StatusOr<NavMesh> ParseGodotMesh(absl::string_view bytes, const ImportOptions& options = {});

// Unity: navigation meshes as JSON, the result of NavMesh.CalculateTriangulation.
//
// Unity has no file format for it; scripts write the NavMeshTriangulation as an object:
//   {"vertices": [{"x": 0, "y": 0, "z": 0}, ...], "indices": [0, 1, 2, ...], "areas": [0, ...]}
// A vertex may also be a list [x, y, z], or all vertices one list of numbers. `indices` has three vertices
// per triangle, counted from 0. `areas` has a number from 0 to 63 per triangle, or may be missing if all are
// 0. `areaNames` and `areaCosts`, which may be missing, have a name, or "", and a cost for each area. Other
// members are ignored.
//
// Meshes of different agent types in one triangulation are joined too.

// Returns true if the bytes are a JSON object with the list members `vertices` and `indices`, and no member
// that identifies a Tiled, LDtk, GeoJSON or glTF file, or malformed JSON with both names. Costs O(bytes).
bool LooksLikeUnityMesh(absl::string_view bytes);

// Returns the mesh that MeshOfFile makes, or INVALID_ARGUMENT / BAD_FORMAT without a field, naming the line.
absl::StatusOr<NavMesh> ParseUnityMesh(absl::string_view bytes, const ImportOptions& options = {});

// Wavefront OBJ (.obj): files whose faces are a navigation mesh, that is walkable ground only.
//
// Reads `v x y z` and `f a b c ...`. A corner is a vertex number counted from 1, or from the last vertex so
// far if negative; anything after a slash is ignored. A backslash continues a line. `usemtl name` gives the
// kind of ground of the faces after it. Names, groups, normals and other statements are ignored, as is
// anything after the third coordinate.
//
// Faces may have up to kMaxWeldCorners corners and either winding.

// Returns true if the statements up to the first vertex or face are those of OBJ; without vertices and faces,
// if some statement has a name of more than one letter. Costs O(bytes).
bool LooksLikeObjMesh(absl::string_view bytes);

// Returns the mesh that MeshOfFaces makes of ParseObjFaces.
absl::StatusOr<NavMesh> ParseObjMesh(absl::string_view bytes, const ImportOptions& options = {});

// Returns the unjoined vertices and faces, of a mesh or of any geometry, or INVALID_ARGUMENT / BAD_FORMAT
// without a field, naming the line.
absl::StatusOr<FileFaces> ParseObjFaces(absl::string_view bytes, const ImportOptions& options = {});

// glTF 2.0: .glb, or .gltf with its buffers embedded as data URIs. The faces are a navigation mesh,
// that is walkable ground only, or the geometry of a level.
// https://registry.khronos.org/glTF/specs/2.0/glTF-2.0.html
//
// Reads the triangles, strips and fans of the meshes in the scene: the default scene, else the first one,
// else all nodes. Each node with a mesh adds a copy, transformed by the node and its ancestors. Points,
// lines, skins and morph targets are not read: a mesh has its undeformed shape. Node names have no
// meaning. The name of a material is a kind of ground, or "material-1" if the first has none.

// Limits that count every copy.
inline constexpr std::size_t kMaxGltfVertices = std::size_t{1} << 22;
inline constexpr std::size_t kMaxGltfTriangles = std::size_t{1} << 22;

// Returns the mesh that MeshOfFaces makes of ParseGltfFaces.
absl::StatusOr<NavMesh> ParseGltfMesh(absl::string_view bytes, const ImportOptions& options = {});

// Returns the unjoined vertices and triangles. Triangles keep the winding of the file, reversed in a node
// that mirrors them.
//
// Returns INVALID_ARGUMENT without a field: BAD_SIZE if there are too many vertices or triangles, or
// BAD_FORMAT if the file is not glTF, has a bad reference or an out-of-range access, needs other files, or
// uses compression or a required extension; or the error of `stop`. Memory is proportional to the triangles
// too.
absl::StatusOr<FileFaces> ParseGltfFaces(absl::string_view bytes, const ImportOptions& options = {});

// Detour navigation meshes, as saved by programs built on Detour.
//
// Format: dtMeshHeader and the other structures in DetourNavMesh.h of Recast Navigation, tile version 7,
// little endian. A tile is a header of 100 bytes followed by its lists: vertices, polygons, links, detail
// meshes, their vertices and triangles, tree nodes, and off-mesh connections. Supported files:
// - MSET, saved by RecastDemo and most tools: a header of 40 bytes, then tiles, each preceded by its 32-bit
//   or 64-bit reference and its size. The header may lack its magic, as KBEngine writes it, or be missing;
// - bare tiles in sequence;
// - .mmap and .mmtile of TrinityCore, AzerothCore and MaNGOS: an optional .mmap, then any number of .mmtile,
//   concatenated.
//
// The sizes of the lists must add up to the size of the tile, which also determines the size of a link.
//
// Polygons of a tile are adjacent where they share two vertices. Edges that the file marks as tile borders
// are joined to those of other tiles along their overlap, within the agent's climb in height and within 0.01
// units or the coordinate precision in plan: see WeldMesh. Stored links are not used. Detour joins whole
// edges if they cross, or if one end of the overlap is within twice the climb; links that Detour may have and
// the mesh lacks are noted. Neighbours of a polygon without area are joined where their edges meet. Heights
// are those of the detail meshes.
//
// Each pair of an area and flags is a terrain, with the tags "flag-0" to "flag-15". The commonest flags of an
// area keep its number; others get the lowest free ones, the commonest first. If there are none left,
// polygons get the commonest flags of their area, which a note counts. Terrains are named "area-5", or
// "area-5-flags-0x0003" if the number is another; area 0 is "ground", and 63 "walkable".
//
// No Detour filter passes polygons with flags 0: these are dropped, and off-mesh connections with flags 0
// become closed portals. If every polygon has flags 0, the flags are taken as not set yet and ignored. Both
// cases are noted.
//
// Off-mesh connections become portals. Each end is the nearest ground found by FindNearestByBox within the
// connection's radius and the agent's climb. The cost is the distance in space. Areas of connections are not
// read.
//
// The mesh has the radius of agents of the tiles, the greatest if they differ.
struct DetourMesh {
  NavMesh mesh;
  std::size_t tile_count = 0;
  // Number of off-mesh connections that became portals, named "off-mesh-1" and so on in file order.
  std::size_t portal_count = 0;
  // Number of those that did not: numbers out of range, no ground near an end, a duplicate of another
  // connection, or too many portals.
  std::size_t passed_over = 0;
};

// Returns true if the bytes begin like a supported file, or like a tile cache, which ParseDetourMesh rejects
// with a reason. A .mmap has no magic; it is recognized by a .mmtile after it, or by its values if nothing
// follows.
bool LooksLikeDetourMesh(absl::string_view bytes);

// Parses a Detour file. `weld` is as in MeshOfFile; tile borders at most that far apart are joined. The notes
// are those of MeshOfSoup, and on flags and links. Returns the errors of MeshOfSoup, or INVALID_ARGUMENT /
// BAD_FORMAT without a field, whose message names the tile and polygon, counted from 0.
absl::StatusOr<DetourMesh> ParseDetourMesh(absl::string_view bytes, const ImportOptions& options = {});

}  // namespace waystar::core
