// Comments are plain English: full sentences or noun phrases, without the house words that
// readers had to read twice.

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/testing/folders.h"

namespace waystar {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

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
  for (const char* folder : {"server", "client", "proto/waystar"}) {
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(fs::path(testing::SourceFolder()) / folder)) {
      const fs::path extension = entry.path().extension();
      if (extension == ".h" || extension == ".cc" || extension == ".proto") {
        std::ifstream file(entry.path());
        const std::vector<std::string> in_file = FindHouseWords(entry.path().string(), file);
        found.insert(found.end(), in_file.begin(), in_file.end());
      }
    }
  }
  EXPECT_THAT(found, IsEmpty());
}

}  // namespace
}  // namespace waystar
