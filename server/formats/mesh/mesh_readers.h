// Readers of files whose faces are a navigation mesh: Polyanya, Godot, Unity, Wavefront OBJ and glTF.
//
// Faces of all but Polyanya may have their own vertices, and meet in the middle of each other's edges:
// WeldMesh joins them. Memory is proportional to the bytes.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/mesh_weld.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/formats/parts/import_notes.h"
#include "server/formats/parts/import_options.h"

namespace waystar::core {

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
absl::StatusOr<NavMesh> ParsePolyanyaMesh(absl::string_view bytes, const StopCheck* stop = nullptr);

// Godot: navigation meshes in text files, resources (.tres) and scenes (.tscn), versions 3 and 4.
//
// Reads `vertices` and `polygons` of all resources of type NavigationMesh, with 3D vertices, and
// NavigationPolygon, with 2D vertices that stay as they are whatever the axes, at height 0:
//   vertices = PackedVector3Array(x, y, z, ...)
//   polygons = [PackedInt32Array(0, 1, 2), ...]
// Version 3 has PoolVector3Array and PoolIntArray instead. Everything else is skipped. The polygons of all
// resources form one mesh, even where they overlap: WeldMesh joins equal edges. All areas are 0.
//
// Nodes may transform the regions of a scene; this is not supported. A scene is rejected if a node that uses
// one of these resources, or an ancestor of it, is moved, rotated or scaled. Scenes and resources in other
// files, and binary files (.scn, .res), are not read.

// Returns true if the bytes begin like a Godot text file, after comments.
bool LooksLikeGodotMesh(absl::string_view bytes);

// Returns the mesh that MeshOfFile makes, or INVALID_ARGUMENT / BAD_FORMAT without a field, naming the line
// or the moved node.
absl::StatusOr<NavMesh> ParseGodotMesh(absl::string_view bytes, MeshAxes axes = MeshAxes::kYUp,
                                       const StopCheck* stop = nullptr, ImportNotes* notes = nullptr,
                                       std::optional<double> weld = std::nullopt);

// Unity: navigation meshes as JSON, the result of NavMesh.CalculateTriangulation.
//
// Unity has no file format for it; scripts write the NavMeshTriangulation as an object:
//   {"vertices": [{"x": 0, "y": 0, "z": 0}, ...], "indices": [0, 1, 2, ...], "areas": [0, ...]}
// A vertex may also be a list [x, y, z], or all vertices one list of numbers. `indices` has three vertices
// per triangle, counted from 0. `areas` has a number from 0 to 63 per triangle, or may be missing if all are
// 0. Other members are ignored.
//
// Meshes of different agent types in one triangulation are joined too.

// Returns true if the bytes are a JSON object with the list members `vertices` and `indices`, and no member
// that identifies a Tiled, LDtk, GeoJSON or glTF file. Costs O(bytes).
bool LooksLikeUnityMesh(absl::string_view bytes);

// Returns the mesh that MeshOfFile makes, or INVALID_ARGUMENT / BAD_FORMAT without a field, naming the line.
absl::StatusOr<NavMesh> ParseUnityMesh(absl::string_view bytes, MeshAxes axes = MeshAxes::kYUp,
                                       const StopCheck* stop = nullptr, ImportNotes* notes = nullptr,
                                       std::optional<double> weld = std::nullopt);

// Wavefront OBJ (.obj): files whose faces are a navigation mesh, that is walkable ground only.
//
// Reads `v x y z` and `f a b c ...`. A corner is a vertex number counted from 1, or from the last vertex so
// far if negative; anything after a slash is ignored. A backslash continues a line. Names, groups, materials,
// normals and other statements are ignored, as is anything after the third coordinate.
//
// Faces may have up to kMaxWeldCorners corners and either winding. All areas are 0.

// Returns true if the statements up to the first vertex or face are those of OBJ; without vertices and faces,
// if some statement has a name of more than one letter. Costs O(bytes).
bool LooksLikeObjMesh(absl::string_view bytes);

// Returns the mesh that MeshOfFaces makes of ParseObjFaces.
absl::StatusOr<NavMesh> ParseObjMesh(absl::string_view bytes, MeshAxes axes = MeshAxes::kYUp,
                                     const StopCheck* stop = nullptr, ImportNotes* notes = nullptr,
                                     std::optional<double> weld = std::nullopt);

// Returns the unjoined vertices and faces, of a mesh or of any geometry, or INVALID_ARGUMENT / BAD_FORMAT
// without a field, naming the line.
absl::StatusOr<MeshSoup> ParseObjFaces(absl::string_view bytes, MeshAxes axes,
                                       const StopCheck* stop = nullptr);

// glTF 2.0: .glb, or .gltf with its buffers embedded as data URIs. The faces are a navigation mesh,
// that is walkable ground only, or the geometry of a level.
// https://registry.khronos.org/glTF/specs/2.0/glTF-2.0.html
//
// Reads the triangles, strips and fans of the meshes in the scene: the default scene, else the first one,
// else all nodes. Each node with a mesh adds a copy, transformed by the node and its ancestors. Points,
// lines, materials, skins and morph targets are not read: a mesh has its undeformed shape. Node names have no
// meaning.

// Limits that count every copy.
inline constexpr std::size_t kMaxGltfVertices = std::size_t{1} << 22;
inline constexpr std::size_t kMaxGltfTriangles = std::size_t{1} << 22;

// Returns the mesh that MeshOfFaces makes of ParseGltfFaces.
absl::StatusOr<NavMesh> ParseGltfMesh(absl::string_view bytes, MeshAxes axes = MeshAxes::kYUp,
                                      const StopCheck* stop = nullptr, ImportNotes* notes = nullptr,
                                      std::optional<double> weld = std::nullopt);

// Returns the unjoined vertices and triangles. Triangles keep the winding of the file, reversed in a node
// that mirrors them.
//
// Returns INVALID_ARGUMENT without a field: BAD_SIZE if there are too many vertices or triangles, or
// BAD_FORMAT if the file is not glTF, has a bad reference or an out-of-range access, needs other files, or
// uses compression or a required extension; or the error of `stop`. Memory is proportional to the triangles
// too.
absl::StatusOr<MeshSoup> ParseGltfFaces(absl::string_view bytes, MeshAxes axes,
                                        const StopCheck* stop = nullptr);

}  // namespace waystar::core
