#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/elements/waypoint.h"
#include "server/formats/mesh/mesh_readers.h"
#include "server/formats/mesh/soup_mesh.h"
#include "server/formats/parts/json_value.h"
#include "server/formats/text/text.h"

namespace waystar::core {
namespace {

bool IsList(const JsonValue* value) {
  return value != nullptr && (value->array() != nullptr || value->numbers() != nullptr);
}

class UnityReader {
 public:
  explicit UnityReader(const ImportOptions& options) : axes_(options.mesh_axes()), stop_(options.grid.stop) {}

  absl::StatusOr<FileFaces> Read(const JsonValue& root) {
    WAYSTAR_ASSIGN_OR_RETURN(const JsonValue* const vertices, ListIn(root, "vertices"));
    WAYSTAR_RETURN_IF_ERROR(ReadVertices(*vertices));
    WAYSTAR_ASSIGN_OR_RETURN(const JsonValue* const indices, ListIn(root, "indices"));
    WAYSTAR_RETURN_IF_ERROR(ReadTriangles(*indices));
    if (const JsonValue* const areas = root.Find("areas"); areas != nullptr) {
      WAYSTAR_RETURN_IF_ERROR(ReadAreas(*areas));
    }
    WAYSTAR_RETURN_IF_ERROR(ReadKinds(root));
    return std::move(faces_);
  }

 private:
  static absl::StatusOr<const JsonValue*> ListIn(const JsonValue& root, absl::string_view name) {
    const JsonValue* const list = root.Find(name);
    if (!IsList(list)) {
      return JsonError(list == nullptr ? root : *list,
                       absl::StrCat("a triangulation has a list named \"", name, "\""));
    }
    return list;
  }

  absl::Status ReadVertices(const JsonValue& list) {
    if (const JsonValue::Numbers* const numbers = list.numbers(); numbers != nullptr) {
      if (numbers->size() % 3 != 0) {
        return JsonError(list, absl::StrCat("vertices have three coordinates each, and this list has ",
                                            numbers->size(), " numbers"));
      }
      for (std::size_t i = 0; i < numbers->size(); i += 3) {
        WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, i / 3));
        WAYSTAR_RETURN_IF_ERROR(AddVertex(list, (*numbers)[i], (*numbers)[i + 1], (*numbers)[i + 2]));
      }
      return absl::OkStatus();
    }
    for (const JsonValue& vertex : *list.array()) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, spec_.vertices.size()));
      if (const JsonValue::Numbers* const numbers = vertex.numbers();
          numbers != nullptr && numbers->size() == 3) {
        WAYSTAR_RETURN_IF_ERROR(AddVertex(vertex, (*numbers)[0], (*numbers)[1], (*numbers)[2]));
        continue;
      }
      const std::optional<double> x = vertex.FindNumber("x");
      const std::optional<double> y = vertex.FindNumber("y");
      const std::optional<double> z = vertex.FindNumber("z");
      if (!x || !y || !z) {
        return JsonError(vertex, "a vertex has three numbers, x, y and z");
      }
      WAYSTAR_RETURN_IF_ERROR(AddVertex(vertex, *x, *y, *z));
    }
    return absl::OkStatus();
  }

  absl::Status AddVertex(const JsonValue& where, double x, double y, double z) {
    spec_.vertices.push_back(FromAxes(axes_, x, y, z));
    return CheckPosition(spec_.vertices.back()).ok()
               ? absl::OkStatus()
               : JsonError(where, absl::StrCat("vertex ", spec_.vertices.size() - 1,
                                               ": coordinates are from ", -kMaxReach, " to ", kMaxReach));
  }

  // Returns the list as integers below `end`.
  absl::StatusOr<std::vector<std::uint32_t>> IntegersOf(const JsonValue& list, absl::string_view what,
                                                        std::size_t end) const {
    std::vector<std::uint32_t> integers;
    if (list.numbers() == nullptr) {
      return list.array() != nullptr && list.array()->empty()
                 ? absl::StatusOr<std::vector<std::uint32_t>>(integers)
                 : JsonError(list, absl::StrCat(what, " are a list of numbers"));
    }
    integers.reserve(list.numbers()->size());
    for (const double number : *list.numbers()) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, integers.size()));
      if (!(number >= 0.0 && number < static_cast<double>(end)) || number != std::floor(number)) {
        return JsonError(list, absl::StrCat(what, " are whole numbers from 0 to below ", end, ", and number ",
                                            integers.size(), " of this list is ", number));
      }
      integers.push_back(static_cast<std::uint32_t>(number));
    }
    return integers;
  }

  absl::Status ReadTriangles(const JsonValue& list) {
    WAYSTAR_ASSIGN_OR_RETURN(spec_.corners, IntegersOf(list, "indices", spec_.vertices.size()));
    if (spec_.corners.size() % 3 != 0) {
      return JsonError(
          list, absl::StrCat("triangles have three indices each, and this list has ", spec_.corners.size()));
    }
    spec_.polygons.assign(spec_.corners.size() / 3, {.corner_count = 3, .area = 0});
    return absl::OkStatus();
  }

  absl::Status ReadAreas(const JsonValue& list) {
    WAYSTAR_ASSIGN_OR_RETURN(std::vector<std::uint32_t> areas, IntegersOf(list, "areas", kMaxMeshAreas));
    if (!areas.empty() && areas.size() != spec_.polygons.size()) {
      return JsonError(
          list, absl::StrCat("there are ", areas.size(), " areas for ", spec_.polygons.size(), " triangles"));
    }
    faces_.kind_of_polygon = std::move(areas);
    return absl::OkStatus();
  }

  // Reads the names and costs of areas.
  absl::Status ReadKinds(const JsonValue& root) {
    const JsonValue::Array& names = root.FindArray("areaNames");
    const JsonValue* const costs = root.Find("areaCosts");
    faces_.kinds.clear();
    for (std::uint8_t area = 0; area < kMaxMeshAreas; ++area) {
      MeshTerrain terrain = DefaultMeshTerrain(area);
      if (area < names.size() && names[area].string() == nullptr) {
        return JsonError(names[area], "areaNames are texts");
      }
      if (area < names.size() && !names[area].string()->empty()) {
        terrain.name = *names[area].string();
      }
      if (costs != nullptr && costs->numbers() != nullptr && area < costs->numbers()->size()) {
        terrain.cost = (*costs->numbers())[area];
      }
      if (!(terrain.cost >= kMinGroundCost && terrain.cost <= kMaxGroundCost)) {
        return JsonError(*costs, absl::StrCat("areaCosts are from ", kMinGroundCost, " to ", kMaxGroundCost,
                                              ", and that of area ", area, " is ", terrain.cost));
      }
      faces_.kinds.push_back({.terrain = std::move(terrain), .area = area});
    }
    faces_.kind_of_polygon.resize(spec_.polygons.size());
    return absl::OkStatus();
  }

  MeshAxes axes_;
  const StopCheck* stop_;
  FileFaces faces_;
  MeshSpec& spec_ = faces_.soup.spec;
};

}  // namespace

bool LooksLikeUnityMesh(absl::string_view bytes) {
  // Few other files have both names.
  if (FirstOfText(bytes) != '{' || !absl::StrContains(bytes, "\"vertices\"") ||
      !absl::StrContains(bytes, "\"indices\"")) {
    return false;
  }
  constexpr absl::string_view kNamesOfOthers[] = {"tiledversion", "orientation", "__header__",
                                                  "jsonVersion",  "features",    "bufferViews"};
  const absl::StatusOr<JsonValue> root = ParseJson(SkipByteOrderMark(bytes));
  return !root.ok() || (IsList(root->Find("vertices")) && IsList(root->Find("indices")) &&
                        root->FindString("type") != "FeatureCollection" &&
                        absl::c_none_of(kNamesOfOthers,
                                        [&](absl::string_view name) { return root->Find(name) != nullptr; }));
}

absl::StatusOr<NavMesh> ParseUnityMesh(absl::string_view bytes, const ImportOptions& options) {
  WAYSTAR_ASSIGN_OR_RETURN(const JsonValue root, ParseJson(SkipByteOrderMark(bytes), options.grid.stop));
  WAYSTAR_ASSIGN_OR_RETURN(FileFaces faces, UnityReader(options).Read(root));
  return MeshOfFile(std::move(faces), options);
}

}  // namespace waystar::core
