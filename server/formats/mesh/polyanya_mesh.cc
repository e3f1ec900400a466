#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/core/mesh/search/landmarks.h"
#include "server/formats/mesh/mesh_readers.h"
#include "server/formats/mesh/soup_mesh.h"
#include "server/formats/text/text.h"

namespace waystar::core {
namespace {

// Tokenizer of words.
//
// Thread safety: none.
class WordReader {
 public:
  explicit WordReader(absl::string_view text) : rest_(text) {}

  // Returns the line of the last word read, counted from 1.
  std::size_t line() const { return line_; }

  // Returns the next word; empty at the end of the text.
  absl::string_view Next() {
    std::size_t begin = 0;
    for (; begin < rest_.size() && absl::ascii_isspace(static_cast<unsigned char>(rest_[begin])); ++begin) {
      line_ += rest_[begin] == '\n' ? 1 : 0;
    }
    std::size_t end = begin;
    while (end < rest_.size() && !absl::ascii_isspace(static_cast<unsigned char>(rest_[end]))) {
      ++end;
    }
    const absl::string_view word = rest_.substr(begin, end - begin);
    rest_.remove_prefix(end);
    return word;
  }

  // `what` describes the number in errors, as in "a coordinate".
  absl::StatusOr<double> NextNumber(absl::string_view what) {
    const absl::string_view word = Next();
    double number = 0.0;
    if (!absl::SimpleAtod(word, &number)) {
      return BadWord(word, what);
    }
    return number;
  }
  absl::StatusOr<std::int64_t> NextInteger(absl::string_view what, std::int64_t least, std::int64_t most) {
    const absl::string_view word = Next();
    std::int64_t number = 0;
    if (!absl::SimpleAtoi(word, &number)) {
      return BadWord(word, what);
    }
    if (number < least || number > most) {
      return BadLine(line_, absl::StrCat(what, " is ", number, ", and must be from ", least, " to ", most));
    }
    return number;
  }

 private:
  absl::Status BadWord(absl::string_view word, absl::string_view what) const {
    return word.empty() ? BadLine(line_, absl::StrCat("the file ends where ", what, " should be"))
                        : BadLine(line_, absl::StrCat(Quoted(word), " should be ", what));
  }

  absl::string_view rest_;
  std::size_t line_ = 1;
};

class PolyanyaParser {
 public:
  PolyanyaParser(absl::string_view bytes, const ImportOptions& options)
      : size_(bytes.size()), words_(bytes), options_(options), stop_(options.grid.stop) {}

  absl::StatusOr<NavMesh> Parse() {
    WAYSTAR_RETURN_IF_ERROR(ReadHeader());
    for (std::int64_t i = 0; i < vertex_count_; ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, static_cast<std::size_t>(i)));
      WAYSTAR_RETURN_IF_ERROR(ReadVertex());
    }
    numbers_.assign(static_cast<std::size_t>(polygon_count_), kNoPolygon);
    for (std::int64_t i = 0; i < polygon_count_; ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, static_cast<std::size_t>(i)));
      WAYSTAR_RETURN_IF_ERROR(ReadPolygon(static_cast<std::size_t>(i)));
    }
    if (const absl::string_view word = words_.Next(); !word.empty()) {
      return BadLine(words_.line(), absl::StrCat("there is ", Quoted(word), " after the last polygon"));
    }
    LeaveOut();
    WAYSTAR_RETURN_IF_ERROR(OverrideTerrains(options_, spec_));
    absl::StatusOr<NavMesh> mesh = CreateMesh(std::move(spec_), stop_);
    if (!mesh.ok()) {
      return InFile(mesh.status());
    }
    return mesh;
  }

 private:
  absl::Status ReadHeader() {
    if (const absl::string_view word = words_.Next(); word != kPolyanyaMeshMagic) {
      return BadLine(words_.line(),
                     absl::StrCat("the file begins with ", Quoted(word), ", not with \"mesh\""));
    }
    WAYSTAR_ASSIGN_OR_RETURN(version_, words_.NextInteger("the version", 2, 3));
    WAYSTAR_ASSIGN_OR_RETURN(vertex_count_, NextCount("vertices", kMaxMeshVertices));
    WAYSTAR_ASSIGN_OR_RETURN(polygon_count_, NextCount("polygons", kMaxMeshPolygons));
    spec_.vertices.reserve(static_cast<std::size_t>(vertex_count_));
    return absl::OkStatus();
  }

  // Bounds the count by the file size, since each vertex and polygon takes several bytes.
  absl::StatusOr<std::int64_t> NextCount(absl::string_view of_what, std::size_t most) {
    WAYSTAR_ASSIGN_OR_RETURN(
        const std::int64_t count,
        words_.NextInteger(absl::StrCat("the number of ", of_what), 0, std::int64_t{1} << 62));
    if (count > static_cast<std::int64_t>(most)) {
      return MakeError(ErrorReason::kBadSize, "",
                       absl::StrCat("line ", words_.line(), ": a mesh may have at most ", most, " ", of_what,
                                    ", got ", count));
    }
    constexpr std::size_t kLeastBytes = 4;
    if (static_cast<std::size_t>(count) > size_ / kLeastBytes) {
      return BadLine(words_.line(), absl::StrCat("the file is too short for ", count, " ", of_what));
    }
    return count;
  }

  absl::Status ReadVertex() {
    WAYSTAR_ASSIGN_OR_RETURN(const double x, words_.NextNumber("a coordinate"));
    WAYSTAR_ASSIGN_OR_RETURN(const double y, words_.NextNumber("a coordinate"));
    WAYSTAR_RETURN_IF_ERROR(AddVertex({x, y, 0.0}, words_.line(), spec_.vertices));
    if (version_ == 3) {
      return absl::OkStatus();
    }
    WAYSTAR_ASSIGN_OR_RETURN(
        const std::int64_t around,
        words_.NextInteger("the number of polygons around a vertex", 0, static_cast<std::int64_t>(size_)));
    for (std::int64_t i = 0; i < around; ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, static_cast<std::size_t>(i + 1)));
      WAYSTAR_RETURN_IF_ERROR(NextPolygon().status());
    }
    return absl::OkStatus();
  }

  // Returns the index in the file of the polygon read next, or kNoPolygon for a wall.
  absl::StatusOr<PolygonNumber> NextPolygon() {
    const bool counts_from_1 = version_ == 3;
    WAYSTAR_ASSIGN_OR_RETURN(
        const std::int64_t number,
        words_.NextInteger("the number of a polygon", counts_from_1 ? -polygon_count_ : -1,
                           counts_from_1 ? polygon_count_ : polygon_count_ - 1));
    if (number < (counts_from_1 ? 1 : 0)) {
      return kNoPolygon;
    }
    return static_cast<PolygonNumber>(counts_from_1 ? number - 1 : number);
  }

  absl::Status ReadPolygon(std::size_t place) {
    bool is_walkable = true;
    if (version_ == 3) {
      WAYSTAR_ASSIGN_OR_RETURN(const std::int64_t flag,
                               words_.NextInteger("whether a polygon can be walked", 0, 1));
      is_walkable = flag == 1;
    }
    WAYSTAR_ASSIGN_OR_RETURN(const std::int64_t count,
                             words_.NextInteger("the number of corners of a polygon", 3, kMaxPolygonCorners));
    const std::size_t line = words_.line();
    const std::size_t first = spec_.corners.size();
    const auto size = static_cast<std::size_t>(count);
    const std::int64_t base = version_ == 3 ? 1 : 0;
    for (std::size_t k = 0; k < size; ++k) {
      WAYSTAR_ASSIGN_OR_RETURN(const std::int64_t vertex,
                               words_.NextInteger("the number of a vertex", base, vertex_count_ - 1 + base));
      spec_.corners.push_back(static_cast<std::uint32_t>(vertex - base));
    }
    spec_.neighbours.resize(first + size);
    for (std::size_t k = 0; k < size; ++k) {
      // The file stores a neighbour at the corner where its edge ends, a mesh at the corner where it begins.
      WAYSTAR_ASSIGN_OR_RETURN(spec_.neighbours[first + (k + size - 1) % size], NextPolygon());
    }
    if (!is_walkable) {
      spec_.corners.resize(first);
      spec_.neighbours.resize(first);
      return absl::OkStatus();
    }
    if (spec_.corners.size() > kMaxMeshCorners) {
      return MakeError(
          ErrorReason::kBadSize, "",
          absl::StrCat("line ", line, ": the polygons of a mesh have at most ", kMaxMeshCorners, " corners"));
    }
    numbers_[place] = static_cast<PolygonNumber>(spec_.polygons.size());
    spec_.polygons.push_back({static_cast<std::uint32_t>(size), 0});
    polygon_lines_.push_back(line);
    return absl::OkStatus();
  }

  // Renumbers the remaining polygons and vertices.
  void LeaveOut() {
    for (PolygonNumber& neighbour : spec_.neighbours) {
      neighbour = neighbour == kNoPolygon ? kNoPolygon : numbers_[neighbour];
    }
    constexpr std::uint32_t kUnused = kNoPolygon;
    std::vector<std::uint32_t> numbers(spec_.vertices.size(), kUnused);
    for (const std::uint32_t vertex : spec_.corners) {
      numbers[vertex] = 0;
    }
    std::uint32_t used = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] != kUnused) {
        spec_.vertices[used] = spec_.vertices[i];
        numbers[i] = used++;
      }
    }
    spec_.vertices.resize(used);
    for (std::uint32_t& vertex : spec_.corners) {
      vertex = numbers[vertex];
    }
  }

  // Converts an error of the mesh to an error of the file.
  absl::Status InFile(const absl::Status& status) const {
    const std::string field = ErrorFieldOf(status);
    if (field.empty()) {
      return status;
    }
    const std::optional<std::size_t> polygon = IndexInField(field, "polygons");
    return polygon ? BadLine(polygon_lines_[*polygon], status.message()) : WithField(status, "");
  }

  std::size_t size_;
  WordReader words_;
  const ImportOptions& options_;
  const StopCheck* stop_;
  std::int64_t version_ = 0;
  std::int64_t vertex_count_ = 0;
  std::int64_t polygon_count_ = 0;
  MeshSpec spec_;
  // Lines of the polygons of `spec_`.
  std::vector<std::size_t> polygon_lines_;
  // Number in the mesh of each polygon in the file; kNoPolygon if it was dropped.
  std::vector<PolygonNumber> numbers_;
};

}  // namespace

absl::StatusOr<NavMesh> ParsePolyanyaMesh(absl::string_view bytes, const ImportOptions& options) {
  return PolyanyaParser(bytes, options).Parse();
}

}  // namespace waystar::core
