#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/core/elements/waypoint.h"
#include "server/formats/mesh/mesh_readers.h"
#include "server/formats/mesh/soup_mesh.h"
#include "server/formats/parts/json_value.h"
#include "server/formats/text/text.h"

namespace waystar::core {
namespace {

constexpr std::size_t kGlbHeaderBytes = 12;
constexpr std::size_t kChunkHeaderBytes = 8;
constexpr std::uint32_t kJsonChunk = 0x4E4F534A;
constexpr std::uint32_t kBinaryChunk = 0x004E4942;
constexpr int kMaxInt = std::numeric_limits<int>::max();

constexpr int kUnsignedByte = 5121;
constexpr int kUnsignedShort = 5123;
constexpr int kUnsignedInt = 5125;
constexpr int kFloat = 5126;

constexpr int kTriangles = 4;
constexpr int kStrip = 5;
constexpr int kFan = 6;

std::uint32_t UnsignedAt(absl::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    number |= std::uint32_t{static_cast<std::uint8_t>(bytes[at + i])} << (8 * i);
  }
  return number;
}

absl::Status CheckSize(std::size_t vertices, std::size_t triangles) {
  return vertices <= kMaxGltfVertices && triangles <= kMaxGltfTriangles
             ? absl::OkStatus()
             : MakeError(ErrorReason::kBadSize, "",
                         absl::StrCat("the file has ", vertices, " vertices and ", triangles,
                                      " triangles, and at most ", kMaxGltfVertices, " and ",
                                      kMaxGltfTriangles, " are read"));
}

// The two parts of a file.
struct GltfFile {
  absl::string_view json;
  // Set for a .glb.
  std::optional<absl::string_view> binary;
};

absl::StatusOr<GltfFile> PartsOf(absl::string_view bytes) {
  if (!absl::StartsWith(bytes, "glTF")) {
    return GltfFile{.json = SkipByteOrderMark(bytes), .binary = std::nullopt};
  }
  if (bytes.size() < kGlbHeaderBytes || UnsignedAt(bytes, 4, 4) != 2) {
    return BadFormat("the file is not a .glb of version 2");
  }
  GltfFile file;
  std::size_t at = kGlbHeaderBytes;
  for (int chunk = 0; chunk < 2 && bytes.size() - at >= kChunkHeaderBytes; ++chunk) {
    const std::size_t size = UnsignedAt(bytes, at, 4);
    const std::uint32_t type = UnsignedAt(bytes, at + 4, 4);
    at += kChunkHeaderBytes;
    if (size > bytes.size() - at) {
      return BadFormat(absl::StrCat("the file is too short for the ", size, " bytes of its chunk ", chunk));
    }
    if (chunk == 0 && type != kJsonChunk) {
      break;
    }
    if (chunk == 0) {
      file.json = bytes.substr(at, size);
    } else if (type == kBinaryChunk) {
      file.binary = bytes.substr(at, size);
    }
    at += size;
  }
  return file.json.empty() ? absl::StatusOr<GltfFile>(BadFormat("the file has no chunk of JSON"))
                           : absl::StatusOr<GltfFile>(file);
}

// Affine transform: three rows of four numbers.
struct Transform {
  std::array<std::array<double, 4>, 3> rows = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};

  // Returns the composition that applies `inner` first.
  Transform After(const Transform& inner) const {
    Transform both;
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t k = 0; k < 4; ++k) {
        double sum = k == 3 ? rows[i][3] : 0.0;
        for (std::size_t j = 0; j < 3; ++j) {
          sum += rows[i][j] * inner.rows[j][k];
        }
        both.rows[i][k] = sum;
      }
    }
    return both;
  }

  std::array<double, 3> Apply(const std::array<double, 3>& point) const {
    std::array<double, 3> mapped{};
    for (std::size_t i = 0; i < 3; ++i) {
      mapped[i] = rows[i][0] * point[0] + rows[i][1] * point[1] + rows[i][2] * point[2] + rows[i][3];
    }
    return mapped;
  }

  bool IsMirror() const {
    const auto& [a, b, c] = rows;
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
               a[2] * (b[0] * c[1] - b[1] * c[0]) <
           0.0;
  }
};

// Array of numbers of one type in a buffer. All elements are within the buffer.
struct Accessor {
  absl::string_view bytes;
  std::size_t stride = 0;
  std::size_t count = 0;
  int component = 0;
};

class GltfReader {
 public:
  GltfReader(const JsonValue& root, std::optional<absl::string_view> binary, const ImportOptions& options)
      : root_(root), binary_(binary), axes_(options.mesh_axes()), stop_(options.grid.stop) {}

  absl::StatusOr<FileFaces> Read() {
    WAYSTAR_RETURN_IF_ERROR(CheckHead());
    WAYSTAR_RETURN_IF_ERROR(ReadBuffers());
    WAYSTAR_RETURN_IF_ERROR(ReadNodes());
    return std::move(faces_);
  }

 private:
  absl::Status CheckHead() const {
    const JsonValue* const asset = root_.Find("asset");
    if (asset == nullptr || !absl::StartsWith(asset->FindString("version"), "2.")) {
      return JsonError(root_, "this is not a glTF of version 2");
    }
    for (const JsonValue& extension : root_.FindArray("extensionsRequired")) {
      const absl::string_view name =
          extension.string() == nullptr ? absl::string_view() : *extension.string();
      if (!absl::StartsWith(name, "KHR_materials_") && !absl::StartsWith(name, "KHR_texture_") &&
          name != "KHR_lights_punctual") {
        return JsonError(extension, absl::StrCat("the file cannot be read without the extension ",
                                                 Quoted(name), ": export it without"));
      }
    }
    return absl::OkStatus();
  }

  // Returns an integer from 0 to `most`, or `otherwise` if the member is missing.
  static absl::StatusOr<std::size_t> WholeOf(const JsonValue& of, absl::string_view name, int most,
                                             std::optional<std::size_t> otherwise = std::nullopt) {
    const JsonValue* const value = of.Find(name);
    if (value == nullptr && otherwise) {
      return *otherwise;
    }
    const std::optional<int> whole = of.FindInteger(name, 0, most);
    if (!whole) {
      return JsonError(value == nullptr ? of : *value,
                       absl::StrCat(Quoted(name), " is a whole number from 0 to ", most));
    }
    return static_cast<std::size_t>(*whole);
  }

  // Returns the element of a root list that a member refers to by index.
  absl::StatusOr<const JsonValue*> Named(const JsonValue& of, absl::string_view name,
                                         absl::string_view list) const {
    WAYSTAR_ASSIGN_OR_RETURN(const std::size_t index, WholeOf(of, name, kMaxInt));
    const JsonValue::Array& elements = root_.FindArray(list);
    return index < elements.size() ? absl::StatusOr<const JsonValue*>(&elements[index])
                                   : JsonError(of, absl::StrCat("there is no ", index, " in ", Quoted(list)));
  }

  absl::Status ReadBuffers() {
    const JsonValue::Array& buffers = root_.FindArray("buffers");
    // Views into the elements must stay valid.
    decoded_.reserve(buffers.size());
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
      const absl::string_view uri = buffers[i].FindString("uri");
      if (buffers[i].Find("uri") == nullptr) {
        if (i != 0 || !binary_) {
          return JsonError(buffers[i], absl::StrCat("buffer ", i, " is not in the file"));
        }
        buffers_.push_back(*binary_);
        continue;
      }
      constexpr absl::string_view kMark = ";base64,";
      const std::size_t mark = uri.substr(0, 100).find(kMark);
      if (!absl::StartsWith(uri, "data:") || mark == absl::string_view::npos) {
        return JsonError(buffers[i], absl::StrCat("buffer ", i, " lies in another file, ", Quoted(uri),
                                                  ": export a .glb, or embed buffers"));
      }
      decoded_.emplace_back();
      if (!absl::Base64Unescape(uri.substr(mark + kMark.size()), &decoded_.back())) {
        return JsonError(buffers[i], absl::StrCat("buffer ", i, " is not base64"));
      }
      buffers_.push_back(decoded_.back());
    }
    return absl::OkStatus();
  }

  static std::size_t SizeOf(int component) {
    return component == kUnsignedByte ? 1 : component == kUnsignedShort ? 2 : 4;
  }

  absl::StatusOr<Accessor> FindAccessor(const JsonValue& of, absl::string_view name, absl::string_view type,
                                        std::size_t numbers) const {
    WAYSTAR_ASSIGN_OR_RETURN(const JsonValue* const accessor, Named(of, name, "accessors"));
    if (accessor->Find("sparse") != nullptr) {
      return JsonError(*accessor, "sparse accessors are not read: export without them");
    }
    if (accessor->Find("bufferView") == nullptr) {
      return JsonError(*accessor, "the accessor has no bufferView: compressed meshes are not read");
    }
    if (accessor->FindString("type") != type) {
      return JsonError(*accessor, absl::StrCat("an accessor of ", Quoted(name), " has the type ", type));
    }
    WAYSTAR_ASSIGN_OR_RETURN(const std::size_t component, WholeOf(*accessor, "componentType", kMaxInt));
    Accessor found;
    found.component = static_cast<int>(component);
    if (numbers == 3 ? found.component != kFloat
                     : found.component != kUnsignedByte && found.component != kUnsignedShort &&
                           found.component != kUnsignedInt) {
      return JsonError(*accessor, numbers == 3 ? "positions are floats: quantized ones are not read"
                                               : "indices are unsigned integers");
    }
    WAYSTAR_ASSIGN_OR_RETURN(found.count, WholeOf(*accessor, "count", kMaxInt));
    WAYSTAR_ASSIGN_OR_RETURN(const std::size_t offset, WholeOf(*accessor, "byteOffset", kMaxInt, 0));
    WAYSTAR_ASSIGN_OR_RETURN(const absl::string_view view,
                             ViewOf(*accessor, numbers * SizeOf(found.component), found.stride));
    const std::size_t element = numbers * SizeOf(found.component);
    if (offset > view.size() ||
        (found.count > 0 && (view.size() - offset < element ||
                             (view.size() - offset - element) / found.stride < found.count - 1))) {
      return JsonError(*accessor,
                       absl::StrCat("the ", found.count, " elements of the accessor do not fit into ",
                                    "its bufferView of ", view.size(), " bytes"));
    }
    found.bytes = view.substr(offset);
    return found;
  }

  // Returns the bytes of the accessor's buffer view, and sets `stride` for elements of the given size.
  absl::StatusOr<absl::string_view> ViewOf(const JsonValue& accessor, std::size_t element,
                                           std::size_t& stride) const {
    WAYSTAR_ASSIGN_OR_RETURN(const JsonValue* const view, Named(accessor, "bufferView", "bufferViews"));
    if (const JsonValue* const extensions = view->Find("extensions");
        extensions != nullptr && extensions->Find("EXT_meshopt_compression") != nullptr) {
      return JsonError(*view, "buffers that are compressed by meshopt are not read");
    }
    WAYSTAR_ASSIGN_OR_RETURN(const std::size_t buffer, WholeOf(*view, "buffer", kMaxInt));
    WAYSTAR_ASSIGN_OR_RETURN(const std::size_t offset, WholeOf(*view, "byteOffset", kMaxInt, 0));
    WAYSTAR_ASSIGN_OR_RETURN(const std::size_t length, WholeOf(*view, "byteLength", kMaxInt));
    WAYSTAR_ASSIGN_OR_RETURN(stride, WholeOf(*view, "byteStride", 252, element));
    if (buffer >= buffers_.size() || offset > buffers_[buffer].size() ||
        length > buffers_[buffer].size() - offset) {
      return JsonError(*view, "the bufferView lies outside of its buffer");
    }
    if (stride < element) {
      return JsonError(*view, absl::StrCat("elements of ", element, " bytes cannot lie ", stride, " apart"));
    }
    return buffers_[buffer].substr(offset, length);
  }

  // Returns the node indexes in the list `name`.
  absl::StatusOr<std::vector<std::size_t>> NodesIn(const JsonValue& of, absl::string_view name) const {
    std::vector<std::size_t> nodes;
    const JsonValue* const list = of.Find(name);
    if (list == nullptr || (list->array() != nullptr && list->array()->empty())) {
      return nodes;
    }
    const std::size_t count = root_.FindArray("nodes").size();
    if (list->numbers() == nullptr) {
      return JsonError(*list, absl::StrCat(Quoted(name), " is a list of nodes"));
    }
    for (const double number : *list->numbers()) {
      if (!(number >= 0.0 && number < static_cast<double>(count)) || number != std::floor(number)) {
        return JsonError(*list, absl::StrCat("there is no node ", number));
      }
      nodes.push_back(static_cast<std::size_t>(number));
    }
    return nodes;
  }

  absl::StatusOr<std::vector<std::size_t>> RootNodes() const {
    if (!root_.FindArray("scenes").empty()) {
      if (root_.Find("scene") == nullptr) {
        return NodesIn(root_.FindArray("scenes").front(), "nodes");
      }
      WAYSTAR_ASSIGN_OR_RETURN(const JsonValue* const scene, Named(root_, "scene", "scenes"));
      return NodesIn(*scene, "nodes");
    }
    const JsonValue::Array& nodes = root_.FindArray("nodes");
    std::vector<bool> is_child(nodes.size());
    for (const JsonValue& node : nodes) {
      WAYSTAR_ASSIGN_OR_RETURN(const std::vector<std::size_t> children, NodesIn(node, "children"));
      for (const std::size_t child : children) {
        is_child[child] = true;
      }
    }
    std::vector<std::size_t> roots;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!is_child[i]) {
        roots.push_back(i);
      }
    }
    return roots;
  }

  absl::Status ReadNodes() {
    const JsonValue::Array& nodes = root_.FindArray("nodes");
    std::vector<bool> is_seen(nodes.size());
    // Depth-first stack.
    std::vector<std::pair<std::size_t, Transform>> open;
    const auto add = [&](std::vector<std::size_t> list, const Transform& transform) -> absl::Status {
      for (auto node = list.rbegin(); node != list.rend(); ++node) {
        if (is_seen[*node]) {
          return JsonError(nodes[*node], absl::StrCat("node ", *node, " is in two places of the scene"));
        }
        is_seen[*node] = true;
        open.emplace_back(*node, transform);
      }
      return absl::OkStatus();
    };
    WAYSTAR_ASSIGN_OR_RETURN(std::vector<std::size_t> roots, RootNodes());
    WAYSTAR_RETURN_IF_ERROR(add(std::move(roots), {}));
    while (!open.empty()) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
      const auto [number, above] = open.back();
      open.pop_back();
      const JsonValue& node = nodes[number];
      WAYSTAR_ASSIGN_OR_RETURN(const Transform own, TransformOf(node));
      const Transform transform = above.After(own);
      if (node.Find("mesh") != nullptr) {
        WAYSTAR_ASSIGN_OR_RETURN(const JsonValue* const mesh, Named(node, "mesh", "meshes"));
        for (const JsonValue& primitive : mesh->FindArray("primitives")) {
          WAYSTAR_RETURN_IF_ERROR(ReadPrimitive(primitive, transform));
        }
      }
      WAYSTAR_ASSIGN_OR_RETURN(std::vector<std::size_t> children, NodesIn(node, "children"));
      WAYSTAR_RETURN_IF_ERROR(add(std::move(children), transform));
    }
    return absl::OkStatus();
  }

  // Returns the numbers of a member, or `otherwise` if it is missing.
  template <std::size_t N>
  static absl::StatusOr<std::array<double, N>> NumbersOf(const JsonValue& of, absl::string_view name,
                                                         const std::array<double, N>& otherwise) {
    const JsonValue* const list = of.Find(name);
    if (list == nullptr) {
      return otherwise;
    }
    if (list->numbers() == nullptr || list->numbers()->size() != N) {
      return JsonError(*list, absl::StrCat(Quoted(name), " is a list of ", N, " numbers"));
    }
    std::array<double, N> numbers;
    std::copy(list->numbers()->begin(), list->numbers()->end(), numbers.begin());
    return numbers;
  }

  static absl::StatusOr<Transform> TransformOf(const JsonValue& node) {
    Transform transform;
    if (node.Find("matrix") != nullptr) {
      // The matrix is stored by columns.
      WAYSTAR_ASSIGN_OR_RETURN(const auto matrix, NumbersOf<16>(node, "matrix", {}));
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t k = 0; k < 4; ++k) {
          transform.rows[i][k] = matrix[4 * k + i];
        }
      }
      return transform;
    }
    WAYSTAR_ASSIGN_OR_RETURN(const auto move, NumbersOf<3>(node, "translation", {0, 0, 0}));
    WAYSTAR_ASSIGN_OR_RETURN(const auto turn, NumbersOf<4>(node, "rotation", {0, 0, 0, 1}));
    WAYSTAR_ASSIGN_OR_RETURN(const auto scale, NumbersOf<3>(node, "scale", {1, 1, 1}));
    const auto [x, y, z, w] = turn;
    const std::array<std::array<double, 3>, 3> rotation = {
        {{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
         {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
         {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}}};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        transform.rows[i][k] = rotation[i][k] * scale[k];
      }
      transform.rows[i][3] = move[i];
    }
    return transform;
  }

  absl::Status ReadPrimitive(const JsonValue& primitive, const Transform& transform) {
    WAYSTAR_ASSIGN_OR_RETURN(const std::size_t mode, WholeOf(primitive, "mode", kFan, kTriangles));
    if (mode < kTriangles) {
      return absl::OkStatus();
    }
    if (const JsonValue* const extensions = primitive.Find("extensions");
        extensions != nullptr && extensions->Find("KHR_draco_mesh_compression") != nullptr) {
      return JsonError(primitive, "meshes that are compressed by Draco are not read: export without it");
    }
    const JsonValue* const attributes = primitive.Find("attributes");
    if (attributes == nullptr || attributes->Find("POSITION") == nullptr) {
      return absl::OkStatus();
    }
    WAYSTAR_ASSIGN_OR_RETURN(const Accessor positions, FindAccessor(*attributes, "POSITION", "VEC3", 3));
    std::optional<Accessor> indices;
    if (primitive.Find("indices") != nullptr) {
      WAYSTAR_ASSIGN_OR_RETURN(indices, FindAccessor(primitive, "indices", "SCALAR", 1));
    }
    const std::size_t corners = indices ? indices->count : positions.count;
    const std::size_t triangles = mode == kTriangles ? corners / 3 : corners < 3 ? 0 : corners - 2;
    MeshSpec& spec = faces_.soup.spec;
    const std::size_t first = spec.vertices.size();
    WAYSTAR_RETURN_IF_ERROR(CheckSize(first + positions.count, spec.polygons.size() + triangles));
    for (std::size_t i = 0; i < positions.count; ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, i));
      std::array<double, 3> point{};
      for (std::size_t k = 0; k < 3; ++k) {
        point[k] = std::bit_cast<float>(UnsignedAt(positions.bytes, i * positions.stride + 4 * k, 4));
      }
      const auto [x, y, z] = transform.Apply(point);
      spec.vertices.push_back(FromAxes(axes_, x, y, z));
      if (!CheckPosition(spec.vertices.back()).ok()) {
        return JsonError(primitive, absl::StrCat("vertex ", i, " of the mesh: coordinates are from ",
                                                 -kMaxReach, " to ", kMaxReach));
      }
    }
    const bool is_mirrored = transform.IsMirror();
    for (std::size_t i = 0; i < triangles; ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, i));
      std::array<std::uint32_t, 3> triangle{};
      const std::size_t swapped = mode == kStrip ? i % 2 : 0;
      const std::array<std::size_t, 3> places =
          mode == kTriangles ? std::array<std::size_t, 3>{3 * i, 3 * i + 1, 3 * i + 2}
          : mode == kStrip   ? std::array<std::size_t, 3>{i, i + 1 + swapped, i + 2 - swapped}
                             : std::array<std::size_t, 3>{i + 1, i + 2, 0};
      for (std::size_t k = 0; k < 3; ++k) {
        const std::size_t vertex =
            indices ? UnsignedAt(indices->bytes, places[k] * indices->stride, SizeOf(indices->component))
                    : places[k];
        if (vertex >= positions.count) {
          return JsonError(primitive,
                           absl::StrCat("there is no vertex ", vertex, ": the mesh has ", positions.count));
        }
        triangle[k] = static_cast<std::uint32_t>(first + vertex);
      }
      if (is_mirrored) {
        std::swap(triangle[1], triangle[2]);
      }
      spec.AddPolygon(triangle);
    }
    faces_.kind_of_polygon.resize(spec.polygons.size(), KindOf(primitive));
    return absl::OkStatus();
  }

  // Returns the kind of the ground of a primitive.
  std::uint32_t KindOf(const JsonValue& primitive) {
    const JsonValue::Array& materials = root_.FindArray("materials");
    const auto material = primitive.FindInteger("material", 0, static_cast<int>(materials.size()) - 1);
    if (!material) {
      return 0;
    }
    const absl::string_view name = materials[static_cast<std::size_t>(*material)].FindString("name");
    return faces_.KindOfMaterial(name.empty() ? absl::StrCat("material-", *material) : std::string(name));
  }

  const JsonValue& root_;
  const std::optional<absl::string_view> binary_;
  const MeshAxes axes_;
  const StopCheck* const stop_;
  std::vector<std::string> decoded_;
  std::vector<absl::string_view> buffers_;
  FileFaces faces_;
};

}  // namespace

absl::StatusOr<FileFaces> ParseGltfFaces(absl::string_view bytes, const ImportOptions& options) {
  WAYSTAR_ASSIGN_OR_RETURN(const GltfFile file, PartsOf(bytes));
  WAYSTAR_ASSIGN_OR_RETURN(const JsonValue root, ParseJson(file.json, options.grid.stop));
  return GltfReader(root, file.binary, options).Read();
}

absl::StatusOr<NavMesh> ParseGltfMesh(absl::string_view bytes, const ImportOptions& options) {
  WAYSTAR_ASSIGN_OR_RETURN(FileFaces faces, ParseGltfFaces(bytes, options));
  return MeshOfFaces(std::move(faces), options);
}

}  // namespace waystar::core
