#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/formats/mesh/mesh_readers.h"
#include "server/formats/mesh/soup_mesh.h"
#include "server/formats/text/text.h"

namespace waystar::core {
namespace {

// Tokenizer of statements and words.
//
// Thread safety: none.
class ObjWords {
 public:
  explicit ObjWords(absl::string_view text) : rest_(text) {}

  // Returns the line of the last word read, counted from 1.
  std::size_t line() const { return line_; }

  // Returns the first word of the next statement, or empty at the end of the text.
  absl::string_view NextStatement() {
    while (!rest_.empty()) {
      if (const absl::string_view word = NextWord(); !word.empty()) {
        return word;
      }
      SkipStatement();
    }
    return {};
  }

  // Returns the next word of the statement, or empty at its end.
  absl::string_view NextWord() {
    while (!rest_.empty()) {
      if (const std::size_t joint = JointBytes(); joint > 0) {
        rest_.remove_prefix(joint);
        ++line_;
      } else if (IsBlank(rest_.front())) {
        rest_.remove_prefix(1);
      } else {
        break;
      }
    }
    std::size_t end = 0;
    while (end < rest_.size() && !IsBlank(rest_[end]) && rest_[end] != '\n' && rest_[end] != '#' &&
           rest_[end] != '\\') {
      ++end;
    }
    if (end == 0 && !rest_.empty() && rest_.front() == '\\') {
      end = 1;
    }
    const absl::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return word;
  }

  void SkipStatement() {
    while (!rest_.empty()) {
      if (const std::size_t joint = JointBytes(); joint > 0) {
        rest_.remove_prefix(joint);
        ++line_;
        continue;
      }
      const bool is_end = rest_.front() == '\n';
      rest_.remove_prefix(1);
      if (is_end) {
        ++line_;
        return;
      }
    }
  }

 private:
  static bool IsBlank(char c) { return c != '\n' && absl::ascii_isspace(static_cast<unsigned char>(c)); }

  // Returns the length of a line continuation at the current position (a backslash at the end of a line or of
  // the text), or 0.
  std::size_t JointBytes() const {
    if (rest_ == "\\" || absl::StartsWith(rest_, "\\\n")) {
      return std::min<std::size_t>(rest_.size(), 2);
    }
    return absl::StartsWith(rest_, "\\\r\n") ? 3 : 0;
  }

  absl::string_view rest_;
  std::size_t line_ = 1;
};

// Parses a decimal number; rejects hexadecimal.
bool ParseCoordinate(absl::string_view word, double& coordinate) {
  return word.find_first_of("xX") == absl::string_view::npos && absl::SimpleAtod(word, &coordinate);
}

class ObjParser {
 public:
  ObjParser(absl::string_view bytes, const ImportOptions& options)
      : words_(SkipByteOrderMark(bytes)), axes_(options.mesh_axes()), stop_(options.grid.stop) {}

  absl::StatusOr<FileFaces> Parse() {
    std::size_t statements = 0;
    for (absl::string_view word = words_.NextStatement(); !word.empty(); word = words_.NextStatement()) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, statements++));
      if (word == "v") {
        WAYSTAR_RETURN_IF_ERROR(ReadVertex());
      } else if (word == "f") {
        WAYSTAR_RETURN_IF_ERROR(ReadFace());
      } else if (word == "usemtl") {
        ReadMaterial();
      } else if (!absl::ascii_isalpha(static_cast<unsigned char>(word.front()))) {
        return BadLine(words_.line(), absl::StrCat(Quoted(word), " is not a statement of OBJ"));
      }
      words_.SkipStatement();
    }
    WAYSTAR_RETURN_IF_ERROR(CheckFaces());
    return std::move(faces_);
  }

 private:
  absl::Status ReadVertex() {
    double coordinates[3] = {};
    for (double& coordinate : coordinates) {
      const absl::string_view word = words_.NextWord();
      if (!ParseCoordinate(word, coordinate)) {
        return BadLine(words_.line(), word.empty() ? "a vertex has three coordinates"
                                                   : absl::StrCat(Quoted(word), " should be a coordinate"));
      }
    }
    return AddVertex(FromAxes(axes_, coordinates[0], coordinates[1], coordinates[2]), words_.line(),
                     spec_.vertices);
  }

  void ReadMaterial() {
    std::string name;
    for (absl::string_view word = words_.NextWord(); !word.empty(); word = words_.NextWord()) {
      absl::StrAppend(&name, name.empty() ? "" : "-", word);
    }
    kind_ = faces_.KindOfMaterial(name);
  }

  absl::Status ReadFace() {
    const std::size_t line = words_.line();
    const std::size_t first = spec_.corners.size();
    for (absl::string_view word = words_.NextWord(); !word.empty(); word = words_.NextWord()) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, spec_.corners.size() + 1));
      const absl::string_view number = word.substr(0, word.find('/'));
      std::int64_t index = 0;
      if (!absl::SimpleAtoi(number, &index)) {
        return BadLine(words_.line(), absl::StrCat(Quoted(word), " should be a corner of a face"));
      }
      const auto count = static_cast<std::int64_t>(spec_.vertices.size());
      // Faces may precede their vertices.
      constexpr std::int64_t kMaxIndex = 0x7FFFFFFF;
      if (index == 0 || index < -count || index > kMaxIndex) {
        return BadLine(words_.line(), absl::StrCat("there is no vertex ", index));
      }
      spec_.corners.push_back(static_cast<std::uint32_t>(index > 0 ? index - 1 : count + index));
    }
    const std::size_t corners = spec_.corners.size() - first;
    if (corners < 3 || corners > kMaxWeldCorners) {
      return BadLine(
          line, absl::StrCat("a face has from 3 to ", kMaxWeldCorners, " corners, and this one ", corners));
    }
    spec_.polygons.push_back({static_cast<std::uint32_t>(corners), 0});
    faces_.kind_of_polygon.push_back(kind_);
    lines_.push_back(line);
    return absl::OkStatus();
  }

  absl::Status CheckFaces() const {
    std::size_t at = 0;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, i));
      for (std::uint32_t k = 0; k < spec_.polygons[i].corner_count; ++k, ++at) {
        if (spec_.corners[at] >= spec_.vertices.size()) {
          return BadLine(lines_[i], absl::StrCat("there is no vertex ", spec_.corners[at] + 1,
                                                 ": the file has ", spec_.vertices.size()));
        }
      }
    }
    return absl::OkStatus();
  }

  ObjWords words_;
  MeshAxes axes_;
  const StopCheck* stop_;
  FileFaces faces_;
  MeshSpec& spec_ = faces_.soup.spec;
  // That of the next face.
  std::uint32_t kind_ = 0;
  // Line of each face.
  std::vector<std::size_t> lines_;
};

}  // namespace

bool LooksLikeObjMesh(absl::string_view bytes) {
  ObjWords words(SkipByteOrderMark(bytes));
  bool has_statement = false;
  for (absl::string_view word = words.NextStatement(); !word.empty(); word = words.NextStatement()) {
    if (word == "v") {
      for (int i = 0; i < 3; ++i) {
        double coordinate = 0.0;
        if (!ParseCoordinate(words.NextWord(), coordinate)) {
          return false;
        }
      }
      return true;
    }
    if (word == "f") {
      // A row of a text map has no such numbers.
      for (int i = 0; i < 3; ++i) {
        const absl::string_view corner = words.NextWord();
        std::int64_t index = 0;
        if (!absl::SimpleAtoi(corner.substr(0, corner.find('/')), &index)) {
          return false;
        }
      }
      return true;
    }
    if (word != "o" && word != "g" && word != "s" && word != "vn" && word != "vt" && word != "mtllib" &&
        word != "usemtl") {
      return false;
    }
    has_statement = has_statement || (word.size() > 1 && !words.NextWord().empty());
    words.SkipStatement();
  }
  // Only OBJ consists of lines such as "usemtl grass".
  return has_statement;
}

absl::StatusOr<NavMesh> ParseObjMesh(absl::string_view bytes, const ImportOptions& options) {
  WAYSTAR_ASSIGN_OR_RETURN(FileFaces faces, ParseObjFaces(bytes, options));
  return MeshOfFaces(std::move(faces), options);
}

absl::StatusOr<FileFaces> ParseObjFaces(absl::string_view bytes, const ImportOptions& options) {
  return ObjParser(bytes, options).Parse();
}

}  // namespace waystar::core
