// `waystar backup` and `waystar restore` against real servers.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/table.h"
#include "tests/client/cli/served_command_test.h"

namespace waystar::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class BackupCommandsTest : public waystar::ServedCommandTest {
 protected:
  BackupCommandsTest() {
    server_.Create("arena", {"......", ".#....", "......"});
    server_.Create("yard", {"..", ".."});
    EXPECT_EQ(Run({"obstacle", "put", "arena", "crate", "0,2", "--lifetime", "1h"}), ExitCode::kOk);
    EXPECT_EQ(Run({"portal", "put", "arena", "door", "1,0", "5,0"}), ExitCode::kOk);
    const std::string isles = folder_.Write("isles.json", R"({"nodes": [{"id": "a"}, {"id": "b"}]})");
    EXPECT_EQ(Run({"map", "create", "isles", "--graph", isles}), ExitCode::kOk) << err_;
  }

  static v1::MapInfo InfoOf(TestServer& server, const std::string& map) {
    v1::GetMapRequest request;
    request.set_map(map);
    const auto response = server.client().GetMap(request);
    EXPECT_TRUE(response.ok()) << response.status();
    return response.ok() ? response->info() : v1::MapInfo();
  }

  // The folder is not there yet.
  const std::string backup_ = folder_.PathOf("backup");
};

TEST_F(BackupCommandsTest, MapsComeBackWithTheirDigests) {
  ASSERT_EQ(Run({"backup", backup_}), ExitCode::kOk) << err_;
  const v1::MapInfo arena = InfoOf(server_, "arena");
  EXPECT_THAT(out_, HasSubstr(absl::StrCat("arena at revision ", arena.version().revision(), ", digest ",
                                           DigestText(arena.digest()))));
  EXPECT_THAT(out_, HasSubstr("Saved 3 maps in "));
  for (const auto& entry : fs::directory_iterator(backup_)) {
    EXPECT_THAT(entry.path().extension().string(), ::testing::AnyOf(".waymap", ".json"));
  }

  TestServer other;
  ASSERT_EQ(Run(other, {"restore", backup_}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, HasSubstr(absl::StrCat("Restored arena as of revision ", arena.version().revision())));
  for (const char* const map : {"arena", "isles", "yard"}) {
    EXPECT_EQ(InfoOf(other, map).digest(), InfoOf(server_, map).digest()) << map;
  }
  EXPECT_EQ(InfoOf(other, "arena").grid().portals(), 1);

  EXPECT_EQ(Run({"backup", backup_}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("holds a backup already"));
}

TEST_F(BackupCommandsTest, RestoresTheMapsThatAreNamed) {
  ASSERT_EQ(Run({"backup", backup_}), ExitCode::kOk) << err_;
  TestServer other;
  ASSERT_EQ(Run(other, {"restore", backup_, "yard"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, Not(HasSubstr("arena")));
  EXPECT_EQ(Run(other, {"restore", backup_, "arena", "nowhere"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("the backup has no map nowhere"));
  EXPECT_EQ(Run(other, {"map", "show", "arena"}), ExitCode::kRefused);
}

TEST_F(BackupCommandsTest, MapsThatExistAreLeftUnlessToldOtherwise) {
  ASSERT_EQ(Run({"backup", backup_}), ExitCode::kOk) << err_;
  const std::uint64_t saved = InfoOf(server_, "yard").digest();
  ASSERT_EQ(Run({"block", "yard", "0,0"}), ExitCode::kOk);
  ASSERT_EQ(Run({"map", "delete", "isles"}), ExitCode::kOk);
  const std::uint64_t changed = InfoOf(server_, "yard").digest();

  EXPECT_EQ(Run({"restore", backup_}), ExitCode::kRefused);
  EXPECT_THAT(err_, HasSubstr("the server has these maps already: arena, yard"));
  EXPECT_EQ(Run({"map", "show", "isles"}), ExitCode::kRefused);

  EXPECT_EQ(Run({"restore", backup_, "--skip-existing"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, HasSubstr("Skipped yard"));
  EXPECT_THAT(out_, HasSubstr("Restored isles"));
  EXPECT_EQ(InfoOf(server_, "yard").digest(), changed);

  EXPECT_EQ(Run({"restore", backup_, "yard", "--replace"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, HasSubstr("Replaced yard"));
  EXPECT_EQ(InfoOf(server_, "yard").digest(), saved);
  EXPECT_EQ(Run({"restore", backup_, "--replace", "--skip-existing"}), ExitCode::kUsage);
}

TEST_F(BackupCommandsTest, MapOnTheServerStaysIfItsBackupIsBad) {
  ASSERT_EQ(Run({"backup", backup_}), ExitCode::kOk) << err_;
  const v1::MapInfo before = InfoOf(server_, "arena");
  const fs::path image = fs::path(backup_) / "arena.waymap";
  const auto expect_unchanged = [&] {
    EXPECT_EQ(InfoOf(server_, "arena").version().epoch(), before.version().epoch());
    EXPECT_EQ(InfoOf(server_, "arena").version().revision(), before.version().revision());
  };

  fs::copy_file(fs::path(backup_) / "yard.waymap", image, fs::copy_options::overwrite_existing);
  TestServer other;
  EXPECT_EQ(Run(other, {"restore", backup_, "arena"}), ExitCode::kFailure);
  EXPECT_THAT(err_, HasSubstr("is not the map that was saved"));
  EXPECT_EQ(Run(other, {"map", "show", "arena"}), ExitCode::kRefused);
  EXPECT_EQ(Run({"restore", backup_, "arena", "--replace"}), ExitCode::kFailure);
  EXPECT_THAT(err_, HasSubstr("is not the map that was saved"));
  EXPECT_THAT(err_, HasSubstr("the map on the server stays as it was"));
  expect_unchanged();

  fs::resize_file(image, fs::file_size(image) - 1);
  EXPECT_EQ(Run({"restore", backup_, "arena", "--replace"}), ExitCode::kRefused) << err_;
  expect_unchanged();
}

TEST_F(BackupCommandsTest, ABackupThatIsNotWholeIsRefused) {
  ASSERT_EQ(Run({"backup", backup_}), ExitCode::kOk) << err_;
  fs::remove(fs::path(backup_) / "yard.waymap");
  TestServer other;
  EXPECT_EQ(Run(other, {"restore", backup_}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("the backup has no image of yard"));
  std::ofstream(fs::path(backup_) / "backup.json") << "nonsense";
  EXPECT_EQ(Run(other, {"restore", backup_}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("is not what `waystar backup` writes"));
  fs::remove(fs::path(backup_) / "backup.json");
  EXPECT_EQ(Run(other, {"restore", backup_}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("a backup that is whole has it"));
  EXPECT_THAT(out_, IsEmpty());
}

}  // namespace
}  // namespace waystar::cli
