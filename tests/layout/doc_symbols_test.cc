// Docs name only what exists: each file that a code span of the docs names is there, and each type or
// function that server/README.md names occurs in the server's sources or protos.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"

namespace waystar {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const fs::path kRoot = WAYSTAR_SOURCE_DIR;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path);
  return (std::ostringstream() << file.rdbuf()).str();
}

bool IsSource(const fs::path& path) {
  return path.extension() == ".h" || path.extension() == ".cc" || path.extension() == ".proto";
}

// Returns the sources below a folder of the repository.
std::vector<fs::path> SourcesIn(const std::string& folder) {
  std::vector<fs::path> sources;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kRoot / folder)) {
    if (entry.is_regular_file() && IsSource(entry.path())) {
      sources.push_back(entry.path());
    }
  }
  return sources;
}

// Returns the code spans of a Markdown text, without its fenced blocks.
std::vector<std::string> CodeSpans(const std::string& text) {
  std::string prose;
  bool is_fenced = false;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(absl::StripLeadingAsciiWhitespace(line), "```")) {
      is_fenced = !is_fenced;
    } else if (!is_fenced) {
      absl::StrAppend(&prose, line, "\n");
    }
  }
  static const std::regex kSpan("`([^`]+)`");
  std::vector<std::string> spans;
  for (auto it = std::sregex_iterator(prose.begin(), prose.end(), kSpan); it != std::sregex_iterator();
       ++it) {
    spans.push_back((*it)[1]);
  }
  return spans;
}

bool LooksLikePath(const std::string& span) {
  static const std::regex kPath(
      R"((server|client|proto|tests|base|core|maintenance|picture|rpc|runtime)/[\w./-]*|[\w./-]+\.(h|cc|proto))");
  return std::regex_match(span, kPath);
}

bool LooksLikeSymbol(const std::string& span) {
  static const std::regex kSymbol(R"(([a-z_]+::)*[A-Z]\w*[a-z]\w*(::\w+)*(\(\))?)");
  return std::regex_match(span, kSymbol);
}

// Returns whether a path names a file or folder below the root or below server/, or the end of exactly one
// source's path.
bool PathExists(const std::string& path) {
  if (fs::exists(kRoot / path) || fs::exists(kRoot / "server" / path)) {
    return true;
  }
  static const auto* const kSources = new std::vector<fs::path>([] {
    std::vector<fs::path> sources;
    for (const char* folder : {"server", "client", "proto", "tests"}) {
      const std::vector<fs::path> more = SourcesIn(folder);
      sources.insert(sources.end(), more.begin(), more.end());
    }
    return sources;
  }());
  return std::count_if(kSources->begin(), kSources->end(), [&](const fs::path& source) {
           return absl::EndsWith(source.string(), absl::StrCat("/", path));
         }) == 1;
}

// Returns whether each part of a qualified name is a word of the server's sources or protos.
bool SymbolExists(const std::string& symbol) {
  static const std::regex kWord(R"(\w+)");
  static const auto* const kWords = new std::set<std::string>([] {
    std::set<std::string> words;
    for (const char* folder : {"server", "proto"}) {
      for (const fs::path& source : SourcesIn(folder)) {
        const std::string text = ReadFile(source);
        std::string word;
        for (const char c : text) {
          if (absl::ascii_isalnum(c) || c == '_') {
            word.push_back(c);
          } else if (!word.empty()) {
            words.insert(word);
            word.clear();
          }
        }
      }
    }
    return words;
  }());
  return std::all_of(std::sregex_iterator(symbol.begin(), symbol.end(), kWord), std::sregex_iterator(),
                     [](const std::smatch& word) { return kWords->count(word.str()) != 0; });
}

std::vector<std::string> BrokenSpans(const std::string& text, bool has_symbols) {
  std::vector<std::string> broken;
  for (const std::string& span : CodeSpans(text)) {
    if (LooksLikePath(span) ? !PathExists(span)
                            : has_symbols && LooksLikeSymbol(span) && !SymbolExists(span)) {
      broken.push_back(span);
    }
  }
  return broken;
}

TEST(DocSymbolsTest, FindsWhatIsNotThere) {
  EXPECT_THAT(BrokenSpans("`server/main.cc` `main.cc` `core/grid/` `core/no_such/` `NO_WAY` `no such.h` "
                          "`grid/no_such.h`\n```\n`rpc/no_such.cc`\n```\n",
                          false),
              ElementsAre("core/no_such/", "grid/no_such.h"));
  EXPECT_THAT(
      BrokenSpans("`MapStore` `MapStore::Update` `core::FindPath()` `MapStore::Frobnicate` `--flag`", true),
      ElementsAre("MapStore::Frobnicate"));
}

TEST(DocSymbolsTest, DocsNameFilesThatExist) {
  std::vector<fs::path> docs = {kRoot / "README.md", kRoot / "CONTRIBUTING.md"};
  if (fs::exists(kRoot / "docs")) {
    for (const fs::directory_entry& entry : fs::directory_iterator(kRoot / "docs")) {
      if (entry.path().extension() == ".md") {
        docs.push_back(entry.path());
      }
    }
  }
  for (const fs::path& doc : docs) {
    EXPECT_THAT(BrokenSpans(ReadFile(doc), false), IsEmpty()) << doc;
  }
}

TEST(DocSymbolsTest, ServerReadmeNamesFilesAndSymbolsThatExist) {
  EXPECT_THAT(BrokenSpans(ReadFile(kRoot / "server/README.md"), true), IsEmpty());
}

}  // namespace
}  // namespace waystar
