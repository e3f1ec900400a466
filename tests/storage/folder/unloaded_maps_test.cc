// Maps of a folder that are not in memory.

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/store/store_listener.h"
#include "server/storage/folder/image_file.h"
#include "tests/storage/folder/crashing_folder.h"
#include "tests/storage/folder/durable_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::storage {
namespace {

using ::testing::IsEmpty;

// Loads nothing by itself.
class Idle final : public core::MapResidence {
 public:
  void LoadSoon(absl::string_view /*id*/) override {}
  bool MakeRoom(std::size_t /*bytes*/) override { return false; }
};

class Server {
 public:
  explicit Server(Folder& folder, const DataOptions& options = {}, core::StoreOptions store_options = {})
      : durable_(folder, options, std::move(store_options)) {
    EXPECT_THAT(durable_.status(), IsOk());
    durable_.store().SetResidence(&residence_);
  }

  DurableStore& durable() { return durable_; }
  core::MapStore& store() { return durable_.store(); }

  void Create(const std::string& id, const std::vector<std::string>& rows) {
    ASSERT_THAT(store().Create(id, DrawMap(rows), store().Now()).status(), IsOk());
  }
  bool Unload(const std::string& id) {
    const auto version = durable_.data().Keep(id);
    EXPECT_THAT(version.status(), IsOk());
    return version.ok() && store().Unload(id, *version);
  }
  // Returns the digest of a map, which is loaded if need be.
  std::uint64_t DigestOf(const std::string& id) {
    if (store().UnloadedVersion(id)) {
      EXPECT_THAT(durable_.data().Load(id), IsOk());
    }
    const auto snapshot = store().Pin(id);
    EXPECT_THAT(snapshot.status(), IsOk());
    return snapshot.ok() ? (*snapshot)->digest() : 0;
  }
  std::vector<std::string> Unloaded() {
    std::vector<std::string> ids;
    for (const core::MapStore::ListedMap& map : store().ListAll("", 1000)) {
      if (map.snapshot == nullptr) {
        ids.push_back(map.id);
      }
    }
    return ids;
  }

 private:
  Idle residence_;
  DurableStore durable_;
};

TEST(UnloadedMapsTest, AreReadFromTheirImages) {
  CrashingFolder folder;
  Server server(folder);
  server.Create("arena", {"...."});
  server.durable().Update("arena", {Block({1, 0})}, "once");
  const std::uint64_t digest = server.DigestOf("arena");
  ASSERT_TRUE(server.Unload("arena"));
  EXPECT_EQ(server.DigestOf("arena"), digest);
  const auto again =
      server.store().UpdateAndWait("arena", {.edits = {Block({1, 0})}, .request_id = "once"}).value();
  EXPECT_TRUE(again.already_applied);
  EXPECT_EQ(server.durable().Update("arena", {Block({2, 0})}), 3U);
  ASSERT_TRUE(server.Unload("arena"));
  ASSERT_THAT(server.store().Delete("arena").status(), IsOk());
  EXPECT_THAT(server.durable().data().Load("arena"), IsOk()) << "There is nothing to load.";
}

TEST(UnloadedMapsTest, ADamagedImageIsFoundWhenItIsRead) {
  CrashingFolder folder;
  Server server(folder);
  server.Create("arena", {"...."});
  ASSERT_TRUE(server.Unload("arena"));
  const core::MapVersion version = *server.store().UnloadedVersion("arena");
  const std::string name = ImageFileName({.map = "arena", .version = version});
  const std::string bytes = *folder.Read(name);
  {
    auto file = folder.Create(name);
    ASSERT_THAT(file.status(), IsOk());
    ASSERT_THAT((*file)->Append(bytes.substr(0, bytes.size() - 5)), IsOk());
  }
  EXPECT_EQ(server.durable().data().Load("arena").code(), absl::StatusCode::kDataLoss);
}

// Maps of which a third has room.
class LittleMemoryTest : public ::testing::TestWithParam<bool> {
 protected:
  static constexpr int kMaps = 12;

  static std::string IdOf(int i) { return absl::StrCat("map-", i); }
  static std::vector<std::string> RowsOf(int i) {
    std::vector<std::string> rows(128, std::string(512, '.'));
    for (int y = 0; y < 128; ++y) {
      rows[static_cast<std::size_t>(y)][static_cast<std::size_t>((y * 7 + i) % 512)] = '@';
    }
    return rows;
  }
};

TEST_P(LittleMemoryTest, MapsThatHaveNoRoomAreLeftUnloaded) {
  const bool has_images = GetParam();
  CrashingFolder folder;
  std::map<std::string, std::uint64_t> digests;
  std::size_t bytes = 0;
  {
    Server server(folder, {.max_log_bytes = has_images ? 2U : 256U << 20});
    for (int i = 0; i < kMaps; ++i) {
      server.Create(IdOf(i), RowsOf(i));
      server.durable().Update(IdOf(i), {Block({i, 0})});
      digests[IdOf(i)] = server.DigestOf(IdOf(i));
    }
    if (has_images) {
      ASSERT_TRUE(server.durable().WaitForImages(kMaps));
    }
    bytes = server.store().MeasureMemory().total();
  }
  const DataOptions options{.read = {.may_unload = true}};
  const core::StoreOptions little{.max_maps_bytes = bytes / 3};
  for (int round = 0; round < 2; ++round) {
    Server server(folder, options, little);
    EXPECT_GT(server.durable().found().unloaded, 0U);
    EXPECT_GT(server.durable().found().maps, 0U);
    EXPECT_EQ(server.durable().found().maps + server.durable().found().unloaded, std::size_t{kMaps});
    EXPECT_LE(server.store().MeasureMemory().total(), little.max_maps_bytes);
    for (const auto& [id, digest] : digests) {
      EXPECT_EQ(server.DigestOf(id), digest) << id;
      EXPECT_TRUE(server.Unload(id)) << id;
    }
  }
  Server all(folder);
  EXPECT_THAT(all.Unloaded(), IsEmpty());
  for (const auto& [id, digest] : digests) {
    EXPECT_EQ(all.DigestOf(id), digest) << id;
  }
}

INSTANTIATE_TEST_SUITE_P(, LittleMemoryTest, ::testing::Bool(),
                         [](const auto& tested) { return tested.param ? "FromImages" : "FromTheLog"; });

// Whatever happens to maps, in memory or not, and however the server ends, they are as they should be.
TEST(UnloadedMapsTest, AreAsTheyWouldBeInMemory) {
  std::mt19937 random(2026);
  const auto draw = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (std::uint64_t round = 0; round < Rounds(12); ++round) {
    CrashingFolder folder;
    // The blocked cells of each map.
    std::map<std::string, std::vector<bool>> expected;
    for (int start = 0; start < 4; ++start) {
      Server server(folder, {.max_log_bytes = draw(2) == 0 ? 2U : 256U << 20});
      for (int step = 0; step < 40; ++step) {
        const std::string id = absl::StrCat("m", draw(4));
        const auto map = expected.find(id);
        const bool is_loaded = map != expected.end() && !server.store().UnloadedVersion(id);
        switch (draw(6)) {
          case 0:
            if (map == expected.end()) {
              server.Create(id, {"........"});
              expected[id].assign(8, false);
            } else if (const int end = draw(6); end < 2) {
              ASSERT_THAT(server.store().Delete(id).status(), IsOk());
              expected.erase(map);
            } else if (end == 2) {
              ASSERT_THAT(server.store().Replace(id, DrawMap({"........"}), server.store().Now()).status(),
                          IsOk());
              map->second.assign(8, false);
            }
            break;
          case 1:
            if (is_loaded) {
              EXPECT_TRUE(server.Unload(id));
            }
            break;
          case 2:
            if (map != expected.end()) {
              server.DigestOf(id);
            }
            break;
          default:
            if (is_loaded) {
              const int x = draw(8);
              const bool blocks = draw(2) == 0;
              server.durable().Update(id, {blocks ? Block({x, 0}) : Unblock({x, 0})});
              map->second[static_cast<std::size_t>(x)] = blocks;
            }
        }
      }
      for (const auto& [id, blocked] : expected) {
        std::string row;
        for (const bool is_blocked : blocked) {
          row += is_blocked ? '#' : '.';
        }
        server.DigestOf(id);
        EXPECT_EQ(DrawPath((*server.store().Pin(id))->grid(), {})[0], row);
      }
    }
  }
}

}  // namespace
}  // namespace waystar::storage
