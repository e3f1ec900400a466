#include "server/data_tool/data_tool.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/store/map_store.h"
#include "server/storage/folder/commit_log.h"
#include "server/storage/folder/data_folder.h"
#include "server/storage/folder/folder.h"
#include "tests/storage/folder/durable_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/generator.h"
#include "tests/testing/own_folder.h"
#include "tests/testing/patience.h"
#include "tests/testing/slow_digest.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::data_tool {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAreArray;

constexpr absl::Time kCreated = absl::FromUnixSeconds(1'600'000'000);

DurableStore Start(const std::string& folder, const storage::DataOptions& options = {}) {
  static const FakeClock clock;
  return DurableStore(storage::OpenPosixFolder(folder), options, {.clock = &clock});
}

class DataToolTest : public ::testing::Test {
 protected:
  // A map with two commits and a graph with none.
  void MakeMaps() {
    DurableStore server = Start(folder_);
    ASSERT_THAT(server.store().Create("arena", DrawMap({"........", "........"}), kCreated), IsOk());
    server.Update("arena", {Block({3, 0})}, "first \"one\"");
    server.Update("arena", {Block({4, 1})});
    ASSERT_THAT(server.store().Create(
                    "isles", *core::WaypointGraph::Create({.nodes = {{.id = "a"}, {.id = "b"}}}), kCreated),
                IsOk());
    digest_ = absl::StrCat(absl::Hex((*server.store().Pin("arena"))->digest(), absl::kZeroPad16));
  }

  // Starts a server that makes images of all maps, and waits until the old logs are gone.
  void MakeImages() {
    DurableStore server = Start(folder_, {.max_log_bytes = 2});
    ASSERT_TRUE(server.WaitForImages(2));
  }

  std::vector<std::string> FilesThatBegin(absl::string_view prefix) const {
    return waystar::FilesThatBegin(prefix, fs::path(folder_));
  }

  std::string ReadFile(const std::string& name) const {
    std::ifstream file(fs::path(folder_) / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  void WriteFile(const std::string& name, const std::string& bytes) const {
    std::ofstream(fs::path(folder_) / name, std::ios::binary) << bytes;
  }

  // Flips a bit of a byte.
  void Damage(const std::string& name, std::size_t offset) const {
    std::string bytes = ReadFile(name);
    bytes.at(offset) = static_cast<char>(bytes.at(offset) ^ 1);
    WriteFile(name, bytes);
  }

  int Run(const std::vector<std::string>& arguments) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = RunDataTool(arguments, out, err);
    out_ = out.str();
    err_ = err.str();
    return code;
  }

  const OwnFolder own_;
  const std::string folder_ = own_.PathOf("data");
  std::string digest_;
  std::string out_;
  std::string err_;
};

class MapsDataToolTest : public DataToolTest {
 protected:
  MapsDataToolTest() { MakeMaps(); }

  const std::string log_ = storage::LogFileName(1);
};

TEST_F(MapsDataToolTest, ListsMaps) {
  ASSERT_EQ(Run({"list", folder_}), 0) << err_;
  const std::vector<std::string> lines = absl::StrSplit(out_, '\n');
  ASSERT_EQ(lines.size(), 5U) << out_;
  EXPECT_THAT(lines[0], StartsWith("MAP    KIND   SIZE "));
  EXPECT_THAT(lines[1], AllOf(StartsWith("arena  grid   8 x 2 "), HasSubstr(digest_)));
  EXPECT_THAT(lines[1], ::testing::EndsWith("  2"));
  EXPECT_THAT(lines[2], AllOf(StartsWith("isles  graph  2 nodes "), ::testing::EndsWith("-      0")));
  EXPECT_THAT(lines[3], StartsWith("2 maps; the log has 1 file of together "));
}

TEST_F(MapsDataToolTest, ListsImages) {
  MakeImages();
  ASSERT_EQ(Run({"list", folder_}), 0) << err_;
  for (const std::string& image : FilesThatBegin("image-")) {
    EXPECT_THAT(out_, ContainsRegex(absl::StrCat(image, " +", ReadFile(image).size(), " ")));
  }
  EXPECT_THAT(out_, HasSubstr(digest_));
}

TEST_F(MapsDataToolTest, FindsThatAllIsWell) {
  ASSERT_EQ(Run({"check", folder_}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("arena: ok, revision "));
  EXPECT_THAT(out_, HasSubstr("from its creation in the log and 2 commits\n"));
  EXPECT_THAT(out_, HasSubstr("All is well with 2 maps.\n"));
  EXPECT_THAT(out_, Not(HasSubstr("cut short")));
}

TEST_F(DataToolTest, AnEmptyFolderIsWell) {
  fs::create_directory(folder_);
  EXPECT_EQ(Run({"check", folder_}), 0) << err_;
  EXPECT_EQ(out_, "All is well with 0 maps.\n");
  EXPECT_EQ(Run({"list", folder_}), 0) << err_;
}

TEST_F(MapsDataToolTest, FindsADamagedImage) {
  MakeImages();
  const std::string image = FilesThatBegin("image-arena-").at(0);
  Damage(image, ReadFile(image).size() - 1);
  const std::string damaged = ReadFile(image);
  EXPECT_EQ(Run({"check", folder_}), 1);
  EXPECT_THAT(out_, HasSubstr(absl::StrCat("arena: ", folder_, "/", image, " is damaged at byte ")));
  EXPECT_THAT(out_, HasSubstr("isles: ok"));
  EXPECT_THAT(out_, HasSubstr("1 of 2 maps cannot be read."));
  EXPECT_THAT(out_, Not(HasSubstr("Not needed")));
  EXPECT_EQ(ReadFile(image), damaged);
  EXPECT_EQ(Run({"list", folder_}), 1);
  EXPECT_THAT(out_, HasSubstr("isles  graph"));
}

TEST_F(MapsDataToolTest, FindsADamagedLog) {
  Damage(log_, 100);
  EXPECT_EQ(Run({"check", folder_}), 1);
  EXPECT_THAT(out_, HasSubstr(absl::StrCat(log_, " is damaged at byte ")));
  EXPECT_THAT(out_, HasSubstr("No server starts on this folder."));
  EXPECT_EQ(Run({"list", folder_}), 1);
  EXPECT_THAT(err_, HasSubstr("is damaged at byte "));
}

TEST_F(MapsDataToolTest, TellsOfATornEndAndOfOtherFiles) {
  WriteFile(log_, ReadFile(log_) + "torn");
  const std::vector<std::string> left_overs = {"image-arena-1-2.kept.new", "image-arena-1-2.new",
                                               "log-000000000009.new"};
  const std::vector<std::string> images = {"image-arena-77-1", "image-gone-1-1"};
  const std::vector<std::string> copies = {"image-arena-1-2.kept", "log-000000000001.kept"};
  const std::vector<std::string> strangers = {"notes.kept", "notes.new", "notes.txt"};
  std::vector<std::string> stay = {"MARK"};
  for (const auto& names : {left_overs, images, copies, strangers}) {
    for (const std::string& name : names) {
      WriteFile(name, "");
    }
    if (names != left_overs) {
      stay.insert(stay.end(), names.begin(), names.end());
    }
  }
  EXPECT_EQ(Run({"check", folder_}), 0) << out_;
  EXPECT_THAT(out_, HasSubstr("The log ends with 4 bytes of a write that was cut short."));
  const auto line = [](absl::string_view what, const std::vector<std::string>& names) {
    return absl::StrCat(what, ": ", absl::StrJoin(names, ", "), "\n");
  };
  EXPECT_THAT(out_, HasSubstr(line("Not needed by any map of the log", left_overs)));
  EXPECT_THAT(out_, HasSubstr(line("Images that nothing explains, and left alone", images)));
  EXPECT_THAT(out_, HasSubstr(line("Copies of files of damaged maps, and left alone", copies)));
  EXPECT_THAT(out_, HasSubstr(line("Not a server's, and left alone", strangers)));
  // A start does what it says.
  Start(folder_);
  std::vector<std::string> found = FilesThatBegin("");
  std::erase_if(found, [](const std::string& name) { return storage::LogFileNumber(name).has_value(); });
  EXPECT_THAT(found, UnorderedElementsAreArray(stay));
}

TEST_F(MapsDataToolTest, MissesTheEndOfTheLogUntilItIsGivenUp) {
  const std::string whole = ReadFile(log_);
  const std::string cut = whole.substr(0, whole.size() - 20);
  WriteFile(log_, cut);
  EXPECT_EQ(Run({"check", folder_}), 1);
  EXPECT_THAT(out_, HasSubstr("the end of the log is missing"));
  EXPECT_EQ(Run({"truncate", folder_, log_, absl::StrCat(cut.size()), "--yes"}), 0) << err_;
  EXPECT_EQ(Run({"check", folder_}), 0) << out_;
  EXPECT_THAT(out_, HasSubstr("Maps get new epochs at the next start"));
}

TEST_F(MapsDataToolTest, CutsNothingWhereNoFileOfTheLogIsLeft) {
  MakeImages();
  for (const std::string& log : FilesThatBegin("log-")) {
    fs::remove(fs::path(folder_) / log);
  }
  // With images, the log itself is missed; without, its end, since the mark tells of it.
  EXPECT_EQ(Run({"check", folder_}), 1);
  EXPECT_THAT(out_, HasSubstr(absl::StrCat("the log of ", folder_, " is missing")));
  EXPECT_THAT(out_, Not(HasSubstr("truncate")));
  for (const std::string& image : FilesThatBegin("image-")) {
    fs::remove(fs::path(folder_) / image);
  }
  EXPECT_EQ(Run({"check", folder_}), 1);
  EXPECT_THAT(out_, HasSubstr("there is no file of the log"));
  EXPECT_THAT(out_, Not(HasSubstr("truncate")));
}

TEST_F(MapsDataToolTest, DumpsCommits) {
  ASSERT_EQ(Run({"dump", folder_, "arena"}), 0) << err_;
  const std::vector<std::string> lines = absl::StrSplit(out_, '\n');
  ASSERT_EQ(lines.size(), 3U) << out_;
  EXPECT_THAT(lines[0], HasSubstr(R"("requestId":"first \"one\"")"));
  EXPECT_THAT(lines[0], HasSubstr(R"("edits":[{"block":{"cells":[{"x":3)"));
  EXPECT_THAT(lines[1], HasSubstr(absl::StrCat("\"digest\":\"", digest_, "\"")));
  EXPECT_THAT(lines[1], Not(HasSubstr("requestId")));
  EXPECT_EQ(Run({"dump", folder_, "isles"}), 0);
  EXPECT_EQ(out_, "");
  EXPECT_EQ(Run({"dump", folder_, "nowhere"}), 1);
  EXPECT_THAT(err_, HasSubstr("there is no map \"nowhere\""));
}

TEST_F(MapsDataToolTest, CutsTheLogOffOnceThatIsConfirmed) {
  const std::string whole = ReadFile(log_);
  // Within the record of the graph's creation.
  const std::string offset = absl::StrCat(whole.find("isles"));
  EXPECT_EQ(Run({"truncate", folder_, log_, offset}), 1);
  EXPECT_THAT(out_, HasSubstr("Lost: the whole of isles "));
  EXPECT_THAT(out_, HasSubstr("arena: ok"));
  EXPECT_THAT(out_, HasSubstr("Nothing was changed."));
  EXPECT_EQ(ReadFile(log_), whole);

  EXPECT_EQ(Run({"truncate", folder_, log_, offset, "--yes"}), 0) << err_;
  EXPECT_EQ(ReadFile(absl::StrCat(log_, ".uncut")), whole);
  EXPECT_EQ(whole.rfind(ReadFile(log_), 0), 0U);
  DurableStore server = Start(folder_);
  EXPECT_EQ(server.store().size(), 1U);
}

TEST_F(MapsDataToolTest, CutsADamagedEndOff) {
  // The commits of the map come before the creation of the graph, which says that they were synced.
  std::string bytes = ReadFile(log_);
  const std::size_t id = bytes.find("first \"one\"");
  ASSERT_NE(id, std::string::npos);
  Damage(log_, id);
  EXPECT_EQ(Run({"truncate", folder_, log_, absl::StrCat(bytes.size())}), 1);
  EXPECT_THAT(err_, HasSubstr("is damaged at byte "));
  EXPECT_EQ(Run({"truncate", folder_, log_, absl::StrCat(id), "--yes"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("which cannot be read"));
  EXPECT_EQ(Run({"check", folder_}), 0) << out_;
  EXPECT_THAT(out_, HasSubstr("All is well with 1 map.\n"));
}

TEST_F(MapsDataToolTest, CutsOnlyTheLastFileOfTheLog) {
  Start(folder_);
  const std::vector<std::string> logs = FilesThatBegin("log-");
  ASSERT_EQ(logs.size(), 2U);
  EXPECT_EQ(Run({"truncate", folder_, logs[0], "100"}), 1);
  EXPECT_THAT(err_, HasSubstr(absl::StrCat("only the log's last file can be cut, which is ", logs[1])));
  EXPECT_EQ(Run({"truncate", folder_, logs[1], "1000000"}), 1);
  EXPECT_THAT(err_, HasSubstr("has only"));
  EXPECT_EQ(Run({"truncate", folder_, logs[1], "24"}), 1);
  EXPECT_THAT(err_, HasSubstr("the first record of"));
}

TEST_F(MapsDataToolTest, RefusesAFolderThatAServerUses) {
  const DurableStore server = Start(folder_);
  for (const char* const command : {"list", "check"}) {
    EXPECT_EQ(Run({command, folder_}), 1);
    EXPECT_THAT(err_, HasSubstr("which is locked; stop the server first"));
  }
}

// Takes the right to write from the process while it lives: root may write anywhere.
class AsNobody {
 public:
  AsNobody() {
    if (is_root_) {
      EXPECT_EQ(seteuid(65534), 0);
    }
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() {
    if (is_root_) {
      EXPECT_EQ(seteuid(0), 0);
    }
  }

 private:
  const bool is_root_ = geteuid() == 0;
};

TEST_F(MapsDataToolTest, ReadsAFolderThatCannotBeWritten) {
  for (const std::string& name : FilesThatBegin("")) {
    fs::permissions(fs::path(folder_) / name, fs::perms(0444));
  }
  fs::permissions(folder_, fs::perms(0555));
  {
    const AsNobody nobody;
    if (faccessat(AT_FDCWD, folder_.c_str(), R_OK | X_OK, AT_EACCESS) != 0) {
      GTEST_SKIP() << "others may not look into " << ::testing::TempDir();
    }
    EXPECT_FALSE(std::ofstream(fs::path(folder_) / "file").is_open());
    EXPECT_EQ(Run({"check", folder_}), 0) << err_ << out_;
    EXPECT_THAT(out_, HasSubstr("All is well with 2 maps.\n"));
    EXPECT_EQ(Run({"list", folder_}), 0) << err_;
    EXPECT_EQ(Run({"dump", folder_, "arena"}), 0) << err_;
  }
  fs::permissions(folder_, fs::perms(0755));
}

TEST_F(DataToolTest, CreatesNoFolder) {
  EXPECT_EQ(Run({"check", folder_}), 1);
  EXPECT_THAT(err_, HasSubstr(absl::StrCat("there is no folder ", folder_)));
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(DataToolTest, ExplainsItself) {
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(out_, HasSubstr("waystar-server data check DIR"));
  const std::vector<std::vector<std::string>> nonsense = {
      {},
      {"list"},
      {"melt", folder_},
      {"dump", folder_},
      {"list", folder_, "arena"},
      {"list", folder_, "--yes"},
      {"truncate", folder_, "log-1", "near the end"},
  };
  for (const std::vector<std::string>& words : nonsense) {
    EXPECT_EQ(Run(words), 2);
    EXPECT_THAT(out_, IsEmpty());
    EXPECT_THAT(err_, HasSubstr("Usage:"));
  }
}

constexpr absl::Time kBegun = absl::FromUnixSeconds(1'600'000'000);
constexpr int kBatches = 3000;

// An edit of a graph, of any kind; the graph may refuse it.
core::Edit AnyGraphEdit(Generator& random) {
  const auto node = [&] { return absl::StrCat("n", random.Between(0, 20)); };
  const auto place = [&] { return 1.0 * random.Between(0, 30); };
  const core::EdgeName edge{.from = node(), .to = node(), .one_way = random.Chance(0.3)};
  const core::Shape shape{.discs = {{.center = {place(), place()}, .radius = 2}}};
  const std::string obstacle = absl::StrCat("o", random.Between(0, 5));
  switch (random.Between(0, 9)) {
    case 0:
    case 1:
      return core::PutNodes{.nodes = {{.id = node(), .position = {place(), place(), place()}, .tags = {"t"}}},
                            .replace = true};
    case 2:
      return core::RemoveNodes{{node()}};
    case 3:
    case 4:
      return core::PutEdges{.edges = {{.name = edge, .cost = place(), .enabled = random.Chance(0.8)}},
                            .replace = true};
    case 5:
      return core::RemoveEdges{{edge}};
    case 6:
      return core::SetEnabled{.nodes = {node()}, .enabled = random.Chance(0.5)};
    case 7:
      return core::RemoveObstacle{obstacle};
    case 8:
      return core::MoveObstacle{obstacle, 1, -1};
    default:
      return core::PutObstacle{.obstacle = {.id = obstacle, .shape = shape}, .replace = true};
  }
}

// An edit of what lies on squares or hexagons beside obstacles and terrain; the map may refuse it.
core::Edit AnyLinkEdit(const core::GridMap& map, Generator& random) {
  const std::string id = absl::StrCat("p", random.Between(0, 5));
  switch (random.Between(0, 4)) {
    case 0:
      return core::RemovePortal{id};
    case 1:
      return core::SwitchPortal{.id = id, .closed = random.Chance(0.5)};
    case 2:
      return core::PutProfile{
          {.name = absl::StrCat("a", random.Between(0, 3)), .profile = {.footprint = random.Between(1, 3)}}};
    case 3:
      return core::RemoveProfile{absl::StrCat("a", random.Between(0, 3))};
    default:
      return core::PutPortal{.portal = {.id = id, .from = random.CellOf(map), .to = random.CellOf(map)},
                             .replace = true};
  }
}

std::vector<core::Edit> AnyBatch(const core::MapSnapshot& map, Generator& random) {
  if (map.as_graph() != nullptr) {
    return {AnyGraphEdit(random)};
  }
  if (random.Chance(0.2)) {
    return {AnyLinkEdit(map.grid(), random)};
  }
  std::vector<core::Edit> edits = random.AnyEdits(map.grid(), random.Between(1, 4));
  if (random.Chance(0.1)) {
    if (auto* const put = std::get_if<core::PutObstacle>(&edits.back())) {
      put->lifetime = absl::Hours(1);
    }
  }
  return edits;
}

// The parameter is max_log_bytes: how long the log grows before images are made.
class ReplayTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  ReplayTest() { Open(); }

  void Open() {
    store_.reset();
    storage::DataOptions options{.max_log_bytes = GetParam()};
    options.log.durability = storage::Durability::kRelaxed;
    store_.emplace(storage::OpenPosixFolder(folder_), options);
    ASSERT_THAT(store_->status(), IsOk());
  }

  void CreateMaps(Generator& random) {
    for (const auto connectivity :
         {core::Connectivity::kFour, core::Connectivity::kEight, core::Connectivity::kSix}) {
      const std::string id = absl::StrCat("grid-", static_cast<int>(connectivity));
      ASSERT_THAT(
          store_->store().Create(id, random.Map({.weighted = true, .connectivity = connectivity}), kBegun),
          IsOk());
      digests_[id];
    }
    ASSERT_THAT(
        store_->store().Create("graph", *core::WaypointGraph::Create({.nodes = {{.id = "n0"}}}), kBegun),
        IsOk());
    digests_["graph"];
  }

  const OwnFolder own_;
  const std::string folder_ = own_.PathOf("data");
  std::optional<DurableStore> store_;
  // The digests that the store had, by map and revision.
  std::map<std::string, std::map<std::uint64_t, std::uint64_t>> digests_;
};

TEST_P(ReplayTest, EachCommitHasTheDigestThatTheStoreHad) {
  Generator random(11);
  CreateMaps(random);
  std::vector<std::string> ids;
  for (const auto& [id, digests] : digests_) {
    ids.push_back(id);
  }
  std::size_t applied = 0;
  for (int i = 0; i < kBatches; ++i) {
    const std::string& id =
        ids[static_cast<std::size_t>(random.Between(0, static_cast<int>(ids.size()) - 1))];
    const core::PinnedSnapshot before = *store_->store().Pin(id);
    const auto result = store_->store().UpdateAndWait(
        id, {.edits = AnyBatch(*before, random), .request_id = absl::StrCat("request-", i)});
    if (result.ok()) {
      ++applied;
      digests_[id][result->revision] = result->digest;
    }
  }
  EXPECT_GT(applied, kBatches / 2);
  if (GetParam() < 1'000'000) {
    EXPECT_TRUE(WaitUntil([&] { return store_->data().Statistics().images.count > 0; }, "the first image"));
  }

  store_.reset();
  for (const auto& [id, digests] : digests_) {
    std::ostringstream out;
    std::ostringstream err;
    ASSERT_EQ(RunDataTool({"dump", folder_, id}, out, err), 0) << err.str();
    std::size_t dumped = 0;
    for (const absl::string_view line : absl::StrSplit(out.str(), '\n', absl::SkipEmpty())) {
      const auto commit = nlohmann::json::parse(line);
      const std::uint64_t revision = std::stoull(commit["version"]["revision"].get<std::string>());
      const std::uint64_t digest = std::stoull(commit["digest"].get<std::string>(), nullptr, 16);
      ASSERT_TRUE(digests.contains(revision)) << id << " " << revision;
      EXPECT_EQ(digest, digests.at(revision)) << id << " " << revision;
      ++dumped;
    }
    if (GetParam() >= 1'000'000) {
      EXPECT_EQ(dumped, digests.size()) << id;
    }
  }

  Open();
  for (const auto& [id, digests] : digests_) {
    const core::PinnedSnapshot map = *store_->store().Pin(id);
    EXPECT_EQ(map->revision, digests.rbegin()->first) << id;
    EXPECT_EQ(map->digest(), digests.rbegin()->second) << id;
    EXPECT_EQ(map->digest(), SlowDigest(map->map)) << id;
  }
}

INSTANTIATE_TEST_SUITE_P(LogBytes, ReplayTest, ::testing::Values(20'000, std::uint64_t{1} << 30));

}  // namespace
}  // namespace waystar::data_tool
