// Comments are plain English: full sentences or noun phrases, without the house words that
// readers had to read twice. Rooms name no compile options.

#include <cstddef>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/layout/sources.h"

namespace waystar {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Returns the text of the comment on a line, if there is one.
std::optional<std::string> CommentOn(const std::string& line) {
  const std::size_t begin = line.find("//");
  if (begin == std::string::npos || (begin > 0 && line[begin - 1] != ' ')) {
    return std::nullopt;
  }
  const std::size_t text = line.find_first_not_of("/ ", begin);
  return text == std::string::npos ? "" : line.substr(text);
}

// Returns the lines of comments that open with a fragment or have such a word, as "file:line: text".
std::vector<std::string> FindHouseWords(const std::string& name, std::istream& text) {
  static const std::regex kOpening(R"(^(Of|Whether|Those|What|By|Which)\b)");
  static const std::regex kWord(R"(\b(tells? of|told of|anew|left out|leaves? out|whoever|by now)\b)");
  std::vector<std::string> found;
  bool was_comment = false;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    const std::optional<std::string> comment = CommentOn(line);
    if (comment &&
        ((!was_comment && std::regex_search(*comment, kOpening)) || std::regex_search(*comment, kWord))) {
      found.push_back(absl::StrCat(name, ":", number, ": ", *comment));
    }
    was_comment = comment.has_value();
  }
  return found;
}

TEST(CommentWordsTest, KnowsTheWords) {
  std::istringstream text(
      "// Of a query that ends.\n"
      "int a = 0;\n"
      "int b = 0;  // It is left out.\n"
      "// Returns the part\n"
      "// Of a line that goes on.\n");
  EXPECT_THAT(FindHouseWords("a.h", text),
              ElementsAre("a.h:1: Of a query that ends.", "a.h:3: It is left out."));
}

TEST(CommentWordsTest, CommentsArePlainEnglish) {
  std::vector<std::string> found;
  for (const std::string& path : FilesIn({"server", "client", "proto/waystar"}, {".h", ".cc", ".proto"})) {
    std::istringstream file(ReadFile(path));
    const std::vector<std::string> in_file = FindHouseWords(path, file);
    found.insert(found.end(), in_file.begin(), in_file.end());
  }
  EXPECT_THAT(found, IsEmpty());
}

// The CMakeLists.txt of the root names compile options for all rooms or for a kind of library. Among them are
// those that make answers the same on every machine.
TEST(CompileOptionsTest, RoomsHaveNoneOfTheirOwn) {
  for (const std::string& path : FilesIn({"server", "client"}, {".txt"})) {
    if (absl::EndsWith(path, "/CMakeLists.txt")) {
      EXPECT_THAT(absl::AsciiStrToLower(ReadFile(path)), Not(HasSubstr("compile_options"))) << path;
    }
  }
}

TEST(CompileOptionsTest, EachOperationIsRoundedByItself) {
  EXPECT_THAT(ReadFile("CMakeLists.txt"), HasSubstr("-ffp-contract=off"));
}

}  // namespace
}  // namespace waystar
