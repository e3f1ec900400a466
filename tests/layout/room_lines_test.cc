// Holds every room to the number of lines that server/README.md gives it.

#include <algorithm>
#include <cstddef>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/layout/sources.h"

namespace waystar {
namespace {

using ::testing::IsEmpty;

using Lines = std::map<std::string, std::size_t>;

// Returns the rows "| `room/` | lines |" of a page.
Lines RowsOf(std::istream& page) {
  static const std::regex kRow(R"(^\| `([a-z0-9_/]+)/` \| ([0-9,]+) \|$)");
  Lines rows;
  std::string line;
  while (std::getline(page, line)) {
    std::smatch row;
    if (std::regex_match(line, row, kRow)) {
      std::size_t lines = 0;
      EXPECT_TRUE(absl::SimpleAtoi(std::regex_replace(row[2].str(), std::regex(","), ""), &lines));
      EXPECT_TRUE(rows.emplace(row[1], lines).second) << row[1];
    }
  }
  return rows;
}

// Returns the room of a file: the row with the longest name that the path begins with, or "".
std::string RoomOf(const std::string& path, const Lines& rows) {
  std::string room;
  for (const auto& [name, lines] : rows) {
    if (name.size() > room.size() && absl::StartsWith(path, name + "/")) {
      room = name;
    }
  }
  return room;
}

// Returns the lines of code below the folders, by room.
Lines CountByRoom(const Lines& rows) {
  static const std::set<std::string> kCode = {".cc",  ".css", ".go",  ".h",  ".html",
                                              ".inc", ".js",  ".mjs", ".py", ".sh"};
  Lines counts;
  for (const std::string& path : FilesIn({"server", "client", "tests"}, kCode)) {
    if (!absl::StrContains(path, "/node_modules/") && !absl::StrContains(path, "/stubs/")) {
      const std::string text = ReadFile(path);
      counts[RoomOf(path, rows)] += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    }
  }
  return counts;
}

// Returns a line for each room that has more lines than its row, and for code in no room.
std::vector<std::string> FindExcess(const Lines& counts, const Lines& rows) {
  std::vector<std::string> found;
  for (const auto& [room, lines] : counts) {
    const auto row = rows.find(room);
    const std::size_t most = row == rows.end() ? 0 : row->second;
    if (lines > most) {
      found.push_back(absl::StrCat(room, "/ has ", lines, " lines and may have ", most));
    }
  }
  return found;
}

TEST(RoomLinesTest, FindsRoomsThatOutgrowTheirRow) {
  std::istringstream page("| room | lines |\n|---|---|\n| `a/` | 1,010 |\n| `a/b/` | 20 |\n| `c/` | 5 |\n");
  const Lines rows = RowsOf(page);
  EXPECT_THAT(rows, ::testing::ElementsAre(::testing::Pair("a", 1010), ::testing::Pair("a/b", 20),
                                           ::testing::Pair("c", 5)));
  EXPECT_EQ(RoomOf("a/b/file.h", rows), "a/b");
  EXPECT_EQ(RoomOf("a/bc/file.h", rows), "a");
  EXPECT_EQ(RoomOf("d/file.h", rows), "");
  EXPECT_THAT(FindExcess({{"a", 1010}, {"a/b", 21}, {"", 3}}, rows),
              ::testing::ElementsAre("/ has 3 lines and may have 0", "a/b/ has 21 lines and may have 20"));
}

TEST(RoomLinesTest, RoomsKeepTheirLines) {
  std::istringstream page(ReadFile("server/README.md"));
  const Lines rows = RowsOf(page);
  EXPECT_THAT(FindExcess(CountByRoom(rows), rows), IsEmpty())
      << "Make the room lighter, or change its row in server/README.md and say why in the commit.";
}

}  // namespace
}  // namespace waystar
