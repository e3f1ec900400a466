// A server whose data folder is damaged, or cannot be used; and what else than the maps' cells outlives it.

#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/storage/folder/folder.h"
#include "tests/service/about_map.h"
#include "tests/service/test_server.h"
#include "tests/storage/folder/durable_store.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"

namespace waystar {
namespace {

namespace fs = std::filesystem;
using ::grpc::health::v1::HealthCheckResponse;
using ::testing::HasSubstr;

class StorageFaultsTest : public RestartTest {
 protected:
  void RestartOn(Disk& disk) {
    server_.reset();
    server_.emplace(options_, absl::Hours(1),
                    [&disk](const std::string&) -> absl::StatusOr<std::unique_ptr<storage::Folder>> {
                      return std::make_unique<HangingFolder>(disk);
                    });
  }

  bool WaitUntilOpen(const std::string& method, int calls) {
    const std::string name = absl::StrCat("waystar.v1.MapService/", method);
    return WaitUntil([&] { return server_->CountsOf(name).open_calls == calls; }, method);
  }

  bool IsStorageHealthy() {
    return HealthOf(server_->NewChannel(), "waystar.storage") == HealthCheckResponse::SERVING;
  }

  absl::StatusOr<v1::GetMapResponse> Get(const std::string& map) {
    return server_->client().GetMap(About<v1::GetMapRequest>(map));
  }

  // Changes that may have to wait for the disk.
  std::future<absl::StatusOr<v1::CreateMapResponse>> CreateZoo() {
    auto create = About<v1::CreateMapRequest>("zoo");
    create.add_rows("....");
    return std::async(std::launch::async, [this, create] { return server_->client().CreateMap(create); });
  }
  std::future<absl::StatusOr<v1::DeleteMapResponse>> DeleteYard() {
    const auto remove = About<v1::DeleteMapRequest>("yard");
    return std::async(std::launch::async, [this, remove] { return server_->client().DeleteMap(remove); });
  }

  // Leaves the maps "arena" and "yard" in the folder, with images, of which that of "arena" is damaged.
  // Returns its path.
  std::string Damage() {
    Restart();
    server_->Create("arena", {"...", "..."});
    server_->Create("yard", {"..."});
    server_.reset();
    MakeImages();
    const fs::path folder = options_.data_dir;
    const fs::path image = folder / FilesThatBegin("image-arena-", folder).at(0);
    std::fstream file(image, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('\x7f');
    return image.string();
  }

  // Has the storage alone make images of all maps, which a server does for a longer log only.
  void MakeImages() const {
    DurableStore store(storage::OpenPosixFolder(options_.data_dir), {.max_log_bytes = 2});
    ASSERT_THAT(store.status(), IsOk());
    ASSERT_TRUE(store.WaitForImages(2));
  }

  // Returns the contents of the folder's files.
  std::map<std::string, std::string> Files() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(options_.data_dir)) {
      std::ifstream file(entry.path(), std::ios::binary);
      files[entry.path().filename().string()] = {std::istreambuf_iterator<char>(file), {}};
    }
    return files;
  }
};

TEST_F(StorageFaultsTest, FoldersThatCannotBeUsedAreNamed) {
  options_.data_dir = "/proc/waystar";
  const absl::Status no_place = StartError();
  EXPECT_FALSE(no_place.ok());
  EXPECT_THAT(std::string(no_place.message()), HasSubstr("/proc/waystar"));
  options_.data_dir = (folder_ / "file").string();
  std::ofstream(options_.data_dir) << "no folder";
  const absl::Status no_folder = StartError();
  EXPECT_FALSE(no_folder.ok());
  EXPECT_THAT(std::string(no_folder.message()), HasSubstr(options_.data_dir));
}

TEST_F(StorageFaultsTest, DamagedMapsAreSkippedOnRequestAndTheirFilesKept) {
  const std::string image = Damage();
  auto files = Files();
  options_.skip_damaged_maps = true;
  const std::string log = LogOf([&] { Restart(); });
  EXPECT_THAT(log, HasSubstr("event=map_damaged"));
  EXPECT_THAT(log, HasSubstr("event=file_kept"));
  EXPECT_TRUE(fs::exists(absl::StrCat(image, ".kept")));
  EXPECT_EQ(Get("arena").status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(server_->client().UpdateMap(BlockRequest("yard", {CellAt(1, 0)})).ok());
  server_.reset();
  const auto now = Files();
  // The server's own.
  files.erase("MARK");
  for (const auto& [name, bytes] : files) {
    ASSERT_TRUE(now.contains(name)) << name;
    EXPECT_EQ(now.at(name), bytes) << name;
  }
}

TEST_F(StorageFaultsTest, TheNameOfADamagedMapStaysItsOwn) {
  Damage();
  std::ofstream(folder_ / "maps" / "arena.txt") << "##\n";
  std::ofstream(folder_ / "maps" / "zoo.txt") << "..\n";
  options_.skip_damaged_maps = true;
  const std::string log = LogOf([&] { Restart(); });
  EXPECT_THAT(log, HasSubstr("event=map_skipped"));
  EXPECT_THAT(log, HasSubstr("arena.txt: there is a map"));
  EXPECT_EQ(Get("arena").status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(Get("yard").ok());
  EXPECT_TRUE(Get("zoo").ok());
  auto request = About<v1::CreateMapRequest>("arena");
  request.add_rows("..");
  EXPECT_THAT(server_->client().CreateMap(request),
              IsRefused(absl::StatusCode::kAlreadyExists, "MAP_EXISTS", "map"));
  EXPECT_TRUE(server_->client().DeleteMap(About<v1::DeleteMapRequest>("arena")).ok());
  EXPECT_TRUE(server_->client().CreateMap(request).ok());
}

TEST_F(StorageFaultsTest, QueriesAreAnsweredWhileChangesOfMapsWaitForTheDisk) {
  options_.workers = 1;
  options_.max_queue_time = kPatience;
  Disk disk;
  RestartOn(disk);
  server_->Create("arena", {"..."});
  server_->Create("yard", {"..."});
  disk.hangs = true;
  auto import = About<v1::ImportMapHeader>("park");
  import.set_format(v1::MAP_FORMAT_TEXT);
  auto created = CreateZoo();
  EXPECT_TRUE(disk.syncs.Wait());
  auto removed = DeleteYard();
  auto imported =
      std::async(std::launch::async, [&] { return server_->client().ImportMap(import, ".....\n"); });
  EXPECT_TRUE(WaitUntilOpen("DeleteMap", 1));
  EXPECT_TRUE(WaitUntilOpen("ImportMap", 1));
  EXPECT_EQ(server_->Find(PathRequest("arena", CellAt(0, 0), CellAt(2, 0))).path().points_size(), 3);
  // These need a worker, for small calls and for large ones.
  EXPECT_THAT(Get("yard").status(), IsOk());
  EXPECT_THAT(server_->client().RenderMap(About<v1::RenderMapRequest>("arena")).status(), IsOk());
  EXPECT_EQ(Get("zoo").status().code(), absl::StatusCode::kNotFound);
  disk.goes_on.Happen();
  const auto zoo = created.get();
  ASSERT_TRUE(zoo.ok()) << zoo.status();
  EXPECT_EQ(zoo->info().map(), "zoo");
  const auto yard = removed.get();
  ASSERT_TRUE(yard.ok()) << yard.status();
  EXPECT_EQ(Get("yard").status().code(), absl::StatusCode::kNotFound);
  const auto park = imported.get();
  ASSERT_TRUE(park.ok()) << park.status();
  EXPECT_EQ(park->info().map(), "park");
  server_.reset();
}

TEST_F(StorageFaultsTest, AServerThatStopsAnswersTheChangesThatWait) {
  options_.workers = 1;
  Disk disk;
  RestartOn(disk);
  server_->Create("yard", {"..."});
  disk.hangs = true;
  auto created = CreateZoo();
  EXPECT_TRUE(disk.syncs.Wait());
  auto removed = DeleteYard();
  EXPECT_TRUE(WaitUntilOpen("DeleteMap", 1));
  auto stopped = std::async(std::launch::async, [&] { server_->server().Stop(kPatience); });
  disk.goes_on.Happen();
  EXPECT_THAT(created.get().status(), IsOk());
  EXPECT_THAT(removed.get().status(), IsOk());
  stopped.get();
  server_.reset();
}

class HangingDiskTest : public StorageFaultsTest, public ::testing::WithParamInterface<bool> {};

TEST_P(HangingDiskTest, HealthSaysIt) {
  options_.durability = GetParam() ? "relaxed" : "sync";
  options_.sync_interval = absl::Milliseconds(1);
  options_.storage_stall_time = absl::Milliseconds(20);
  Disk disk;
  const std::string log = LogOf([&] {
    RestartOn(disk);
    disk.hangs = true;
    const auto created = std::async(std::launch::async, [&] { server_->Create("zoo", {"..."}); });
    EXPECT_TRUE(WaitUntil([&] { return !IsStorageHealthy(); }, "the stall"));
    disk.hangs = false;
    disk.goes_on.Happen();
    EXPECT_TRUE(WaitUntil([&] { return IsStorageHealthy(); }, "the end of the stall"));
  });
  EXPECT_THAT(log, HasSubstr("level=error event=storage_stalls seconds="));
  EXPECT_THAT(log, HasSubstr("event=storage_goes_on"));
  server_.reset();
}

INSTANTIATE_TEST_SUITE_P(Durabilities, HangingDiskTest, ::testing::Bool(),
                         [](const auto& param) { return param.param ? "Relaxed" : "Sync"; });

}  // namespace
}  // namespace waystar
