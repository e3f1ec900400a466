// Docs name only what exists: each file that a code span of the docs names is there, and each type or
// function that server/README.md names occurs in the server's sources or protos.

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "tests/layout/sources.h"

namespace waystar {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

fs::path Root() { return SourceFolder(); }

std::vector<std::string> SourcesIn(const std::vector<std::string>& folders) {
  return FilesIn(folders, {".h", ".cc", ".proto"});
}

// Returns the code spans of a Markdown text, without its fenced blocks.
std::vector<std::string> CodeSpans(absl::string_view text) {
  std::string prose;
  bool is_fenced = false;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(absl::StripLeadingAsciiWhitespace(line), "```")) {
      is_fenced = !is_fenced;
    } else if (!is_fenced) {
      absl::StrAppend(&prose, line, "\n");
    }
  }
  const std::vector<std::string> parts = absl::StrSplit(prose, '`');
  std::vector<std::string> spans;
  for (std::size_t i = 1; i < parts.size(); i += 2) {
    spans.push_back(parts[i]);
  }
  return spans;
}

bool LooksLikePath(const std::string& span) {
  static const std::regex kPath(
      R"((server|client|proto|tests|base|core|formats|geometry|maintenance|render|runtime|service|storage)/[\w./-]*|[\w./-]+\.(h|cc|proto))");
  return std::regex_match(span, kPath);
}

bool LooksLikeSymbol(const std::string& span) {
  static const std::regex kSymbol(R"(([a-z_]+::)*[A-Z]\w*[a-z]\w*(::\w+)*(\(\))?)");
  return std::regex_match(span, kSymbol);
}

// Returns whether a path is that of a file or folder below the root or below server/, or the end of exactly
// one source's path.
bool PathExists(const std::string& path) {
  static const auto* const kSources =
      new std::vector<std::string>(SourcesIn({"server", "client", "proto", "tests"}));
  return fs::exists(Root() / path) || fs::exists(Root() / "server" / path) ||
         std::count_if(kSources->begin(), kSources->end(), [&](const std::string& source) {
           return absl::EndsWith(source, absl::StrCat("/", path));
         }) == 1;
}

std::set<std::string> WordsOf(const std::vector<std::string>& sources) {
  std::set<std::string> words;
  for (const std::string& source : sources) {
    std::string text = ReadFile(source);
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c != '_' && !absl::ascii_isalnum(c); }, ' ');
    for (const absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
      words.emplace(word);
    }
  }
  return words;
}

// Returns whether each part of a qualified name is a word of the server's sources or protos.
bool SymbolExists(absl::string_view symbol) {
  static const auto* const kWords = new std::set<std::string>(WordsOf(SourcesIn({"server", "proto"})));
  const std::vector<std::string> parts = absl::StrSplit(symbol, absl::ByAnyChar(":()"), absl::SkipEmpty());
  return std::all_of(parts.begin(), parts.end(),
                     [](const std::string& part) { return kWords->count(part) != 0; });
}

enum class Checked { kPaths, kPathsAndSymbols };

std::vector<std::string> BrokenSpans(absl::string_view text, Checked checked) {
  std::vector<std::string> broken;
  for (const std::string& span : CodeSpans(text)) {
    const bool holds = LooksLikePath(span)
                           ? PathExists(span)
                           : checked == Checked::kPaths || !LooksLikeSymbol(span) || SymbolExists(span);
    if (!holds) {
      broken.push_back(span);
    }
  }
  return broken;
}

TEST(DocSymbolsTest, FindsPathsThatAreNotThere) {
  EXPECT_THAT(
      BrokenSpans("`server/main.cc`, `main.cc`, `core/grid/`, `core/no_such/`, `Nothing`, `no such.h`, "
                  "`grid/no_such.h`\n```\n`service/no_such.cc`\n```\n",
                  Checked::kPaths),
      ElementsAre("core/no_such/", "grid/no_such.h"));
}

TEST(DocSymbolsTest, FindsSymbolsThatAreNotThere) {
  EXPECT_THAT(BrokenSpans("`MapStore`, `MapStore::Update`, `core::FindPath()`, `MapStore::Frobnicate`, "
                          "`ABORTED`, `--no_such_flag`",
                          Checked::kPathsAndSymbols),
              ElementsAre("MapStore::Frobnicate"));
}

TEST(DocSymbolsTest, DocsNameFilesThatExist) {
  std::vector<std::string> docs = FilesIn({"docs"}, {".md"});
  docs.insert(docs.end(), {"README.md", "CONTRIBUTING.md"});
  for (const std::string& doc : docs) {
    EXPECT_THAT(BrokenSpans(ReadFile(doc), Checked::kPaths), IsEmpty()) << doc;
  }
}

TEST(DocSymbolsTest, ServerReadmeNamesFilesAndSymbolsThatExist) {
  EXPECT_THAT(BrokenSpans(ReadFile("server/README.md"), Checked::kPathsAndSymbols), IsEmpty());
}

}  // namespace
}  // namespace waystar
