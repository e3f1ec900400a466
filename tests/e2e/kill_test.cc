// A server that is killed under load, again and again: what it has acknowledged or shown is there when it is
// started with the same folder. Then the same with the loss of all that it has not synced, as when its
// machine loses power. WAYSTAR_KILLS=200 makes 200 rounds of each.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "gtest/gtest.h"
#include "server/base/mutex.h"
#include "server/storage/folder/folder.h"
#include "server/storage/folder/folder_reader.h"
#include "server/storage/folder/log_entry.h"
#include "tests/e2e/server_process.h"
#include "tests/e2e/unsynced_loss.h"
#include "tests/testing/own_folder.h"
#include "tests/testing/patience.h"
#include "tests/testing/random.h"

namespace waystar {
namespace {

using ::waystar::client::Client;

constexpr int kSide = 64;
constexpr int kWriters = 6;
constexpr int kWindow = 32;
// Maps that come and go.
constexpr int kNames = 4;
// Two grids and a navigation mesh.
constexpr const char* kMaps[] = {"north", "south", "slope"};
constexpr char kMesh[] = "slope";
// Maximum number of obstacles on the mesh beside the marks. A list of them fits on one page.
constexpr int kCrates = 40;

int Kills() {
  const char* const kills = std::getenv("WAYSTAR_KILLS");
  return kills == nullptr ? 10 : std::max(std::atoi(kills), 1);
}

// What becomes of a call while the server may be killed: a failure is right only then.
class Life {
 public:
  void Kill() { is_killed_ = true; }
  // Returns whether the call has succeeded.
  bool Judge(const absl::Status& status) const {
    EXPECT_TRUE(status.ok() || is_killed_) << status;
    return status.ok();
  }

 private:
  std::atomic<bool> is_killed_ = false;
};

void AddCell(int x, int y, v1::Shape& shape) {
  v1::Cell& cell = *shape.add_cells();
  cell.set_x(x);
  cell.set_y(y);
}

void AddMark(const std::string& id, int cell, v1::UpdateMapRequest& batch) {
  v1::Obstacle& mark = *batch.add_edits()->mutable_put_obstacle();
  mark.set_id(id);
  AddCell(cell % kSide, cell / kSide, *mark.mutable_shape());
}

// Puts one of a few obstacles on the mesh, at some of its heights. It may reach under others.
void AddCrate(Random& random, v1::UpdateMapRequest& batch) {
  v1::Obstacle& crate = *batch.add_edits()->mutable_put_obstacle();
  crate.set_id(absl::StrCat("crate-", random.Between(1, kCrates)));
  v1::Disc& disc = *crate.mutable_shape()->add_discs();
  disc.mutable_center()->set_x(random.Between(0, 4 * kSide) / 4.0);
  disc.mutable_center()->set_y(random.Between(0, 4 * kSide) / 4.0);
  disc.set_radius(random.Between(1, 12) / 4.0);
  crate.mutable_heights()->set_low(random.Between(0, 8));
}

// A mesh of kSide x kSide: two squares below, and two on a slope.
v1::CreateMapRequest SlopedMesh(const std::string& map) {
  v1::CreateMapRequest request;
  request.set_map(map);
  std::string& faces = *request.mutable_data();
  for (const int row : {0, 1, 2}) {
    for (const int column : {0, 1, 2}) {
      absl::StrAppend(&faces, "v ", column * kSide / 2, " ", row == 2 ? 8 : 0, " ", row * kSide / 2, "\n");
    }
  }
  faces += "f 1 2 5 4\nf 2 3 6 5\nf 4 5 8 7\nf 5 6 9 8\n";
  return request;
}

// Keeps what clients know of the maps, by epoch, and fails the test when something that they are told later,
// or what lies in the data folder, contradicts it.
//
// Thread safety: any method may be called from any thread.
class KillLedger {
 public:
  // A client has seen a map.
  void Saw(std::uint64_t epoch, std::uint64_t revision, std::uint64_t digest) {
    MutexLock lock(mutex_);
    NoteLocked(epoch, revision, digest);
  }
  void Saw(const v1::MapInfo& info) { Saw(info.version().epoch(), info.version().revision(), info.digest()); }
  // A client has the answer to its batch.
  void Acknowledged(const v1::UpdateMapResponse& answer, const std::string& request_id) {
    const std::uint64_t epoch = answer.version().epoch();
    const std::uint64_t revision = answer.version().revision();
    MutexLock lock(mutex_);
    NoteLocked(epoch, revision, answer.digest());
    const auto [it, is_new] = known_[epoch].request_ids.emplace(revision, request_id);
    EXPECT_EQ(it->second, request_id) << "two batches of revision " << revision;
    ++acknowledged_;
    changed_.NotifyAll();
  }
  // Returns the newest revision that somebody has seen.
  std::uint64_t Newest(std::uint64_t epoch) const {
    MutexLock lock(mutex_);
    const auto it = known_.find(epoch);
    return it == known_.end() ? 0 : it->second.newest;
  }

  // Returns how many batches were acknowledged.
  std::size_t acknowledged() const {
    MutexLock lock(mutex_);
    return acknowledged_;
  }
  // Returns once as many were, or fails the test.
  void WaitForAcknowledged(std::size_t count) {
    const Patience patience("acknowledged batches");
    MutexLock lock(mutex_);
    while (acknowledged_ < count && patience.Wait(changed_, mutex_)) {
    }
  }

  // Compares with what is in the folder of a server that is dead: each acknowledged batch that the log may
  // still hold is there, under its revision, as a whole and once. Returns the revision that the log has for
  // each request id. If the newest may be lacking, those revisions are lost: they may be made again.
  std::map<std::string, std::uint64_t> CompareWith(const storage::Folder& folder,
                                                   bool may_lack_newest = false) {
    std::map<std::string, std::uint64_t> applied;
    const auto names = folder.List();
    const auto history = storage::ReadLogFiles(folder, *names);
    if (!history.ok()) {
      ADD_FAILURE() << history.status();
      return applied;
    }
    MutexLock lock(mutex_);
    for (const storage::LiveMap& map : history->next.maps) {
      Known& known = known_[map.epoch];
      if (may_lack_newest && map.revision < known.newest) {
        known.LoseAfter(map.revision);
      }
      EXPECT_GE(map.revision, known.newest) << "a revision of " << map.id << " that was seen is gone";
      std::uint64_t first = map.revision + 1;
      const auto entries = history->entries.find(map.id);
      for (std::size_t i = 0; entries != history->entries.end() && i < entries->second.size(); ++i) {
        const storage::LogEntry& entry = entries->second[i].entry;
        if (entry.kind != storage::LogEntry::Kind::kCommits) {
          continue;
        }
        first = std::min(first, entry.first_revision);
        const auto commits = storage::DecodeCommits(entry.body);
        for (const core::LoggedCommit& logged : *commits) {
          const std::uint64_t revision = logged.commit->revision;
          NoteLocked(map.epoch, revision, logged.commit->digest);
          if (const auto it = known.request_ids.find(revision); it != known.request_ids.end()) {
            EXPECT_EQ(logged.request_id, it->second) << "another batch has revision " << revision;
          }
          EXPECT_TRUE(applied.emplace(logged.request_id, revision).second)
              << logged.request_id << " was applied twice";
        }
      }
      // Batches that the log no longer has are in an image. So are some that nobody acknowledged.
      for (auto it = known.request_ids.lower_bound(first); it != known.request_ids.end(); ++it) {
        EXPECT_EQ(applied.count(it->second), 1) << it->second << " was acknowledged and is gone";
      }
    }
    return applied;
  }
  // Returns whether revisions of this epoch are lost.
  bool HasLost(std::uint64_t epoch) const {
    MutexLock lock(mutex_);
    const auto it = known_.find(epoch);
    return it != known_.end() && it->second.has_lost;
  }

 private:
  struct Known {
    std::uint64_t newest = 0;
    std::map<std::uint64_t, std::uint64_t> digests;
    std::map<std::uint64_t, std::string> request_ids;
    bool has_lost = false;

    void LoseAfter(std::uint64_t revision) {
      newest = revision;
      digests.erase(digests.upper_bound(revision), digests.end());
      request_ids.erase(request_ids.upper_bound(revision), request_ids.end());
      has_lost = true;
    }
  };

  void NoteLocked(std::uint64_t epoch, std::uint64_t revision, std::uint64_t digest)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Known& known = known_[epoch];
    known.newest = std::max(known.newest, revision);
    const auto [it, is_new] = known.digests.emplace(revision, digest);
    EXPECT_EQ(it->second, digest) << "two states of revision " << revision;
  }

  mutable Mutex mutex_;
  CondVar changed_;
  std::map<std::uint64_t, Known> known_ ABSL_GUARDED_BY(mutex_);
  std::size_t acknowledged_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Makes batches, each with marks at its beginning and its end on the cell of its number.
class Writer {
 public:
  Writer(int number, std::string map)
      : name_(absl::StrCat("w", number)), map_(std::move(map)), random_(number) {}

  const std::string& map() const { return map_; }
  std::string FirstMark() const { return name_ + "-first"; }
  std::string LastMark() const { return name_ + "-last"; }

  v1::UpdateMapRequest Next() {
    ++made_;
    v1::UpdateMapRequest batch;
    batch.set_map(map_);
    batch.set_request_id(absl::StrCat(name_, "-", made_));
    batch.mutable_request_time()->set_seconds(absl::ToUnixSeconds(absl::Now()));
    AddMark(FirstMark(), made_ % (kSide * kSide), batch);
    if (map_ == kMesh) {
      AddCrate(random_, batch);
    } else {
      AddBlocks(batch);
    }
    AddMark(LastMark(), made_ % (kSide * kSide), batch);
    return batch;
  }

  // One batch after the other, until the server is killed. One that was left without an answer is sent again,
  // and `applied` says whether the log has it.
  void Run(Client& maps, const Life& life, KillLedger& ledger,
           const std::map<std::string, std::uint64_t>& applied) {
    while (true) {
      const bool is_retry = unanswered_.has_value();
      if (!is_retry) {
        unanswered_ = Next();
      }
      const auto response = maps.UpdateMap(*unanswered_);
      if (!life.Judge(response.status())) {
        return;
      }
      if (const auto it = applied.find(unanswered_->request_id()); is_retry && it != applied.end()) {
        EXPECT_TRUE(response->already_applied());
        EXPECT_EQ(response->version().revision(), it->second);
      }
      ledger.Acknowledged(*response, unanswered_->request_id());
      unanswered_.reset();
    }
  }

  // The same on a stream, kWindow batches at a time. What was left without an answer is not sent again.
  void Stream(Client& maps, const Life& life, KillLedger& ledger) {
    const auto stream = maps.StreamUpdates();
    std::vector<std::string> ids;
    std::size_t answered = 0;
    while (true) {
      const v1::UpdateMapRequest batch = Next();
      ids.push_back(batch.request_id());
      if (!stream->Send(batch)) {
        break;
      }
      v1::StreamUpdatesResponse response;
      if (ids.size() - answered < kWindow) {
        continue;
      }
      if (!stream->Receive(response)) {
        break;
      }
      EXPECT_TRUE(response.has_applied()) << response.ShortDebugString();
      ledger.Acknowledged(response.applied(), ids[answered++]);
    }
    life.Judge(stream->Finish());
  }

 private:
  void AddBlocks(v1::UpdateMapRequest& batch) {
    v1::Edit& edit = *batch.add_edits();
    v1::Shape& shape = random_.Chance(0.5) ? *edit.mutable_block() : *edit.mutable_unblock();
    for (int cells = random_.Chance(0.25) ? 500 : 1; cells > 0; --cells) {
      AddCell(random_.Between(0, kSide - 1), random_.Between(0, kSide - 1), shape);
    }
  }

  const std::string name_;
  const std::string map_;
  Random random_;
  int made_ = 0;
  std::optional<v1::UpdateMapRequest> unanswered_;
};

absl::StatusOr<v1::MapInfo> InfoOf(Client& maps, const std::string& map) {
  v1::GetMapRequest request;
  request.set_map(map);
  auto response = maps.GetMap(request);
  return response.ok() ? absl::StatusOr<v1::MapInfo>(std::move(*response->mutable_info()))
                       : response.status();
}

// Creates maps and deletes them.
class Creator {
 public:
  void Run(Client& maps, const Life& life, KillLedger& ledger) {
    while (true) {
      const std::string name = absl::StrCat("guest-", turn_ % kNames);
      Guest& guest = guests_[name];
      if (!guest.is_certain && !Learn(maps, name, life, guest)) {
        return;
      }
      guest.is_certain = false;
      if (!guest.is_there) {
        const auto response = maps.CreateMap(BlankMap(name, kSide));
        if (!life.Judge(response.status())) {
          return;
        }
        EXPECT_EQ(response->info().version().revision(), 1U);
        EXPECT_NE(response->info().version().epoch(), guest.epoch) << "of the map that was deleted";
        ledger.Saw(response->info());
        guest.epoch = response->info().version().epoch();
      } else {
        v1::DeleteMapRequest request;
        request.set_map(name);
        const auto response = maps.DeleteMap(request);
        if (!life.Judge(response.status())) {
          return;
        }
        EXPECT_EQ(response->version().epoch(), guest.epoch);
      }
      guest.is_there = !guest.is_there;
      guest.is_certain = true;
      ++turn_;
    }
  }

  // Compares with the maps that there are, and learns what became of the last change.
  void Compare(Client& maps) {
    for (auto& [name, guest] : guests_) {
      const absl::StatusOr<v1::MapInfo> info = InfoOf(maps, name);
      if (guest.is_certain) {
        EXPECT_EQ(info.ok(), guest.is_there) << name;
      }
      if (guest.is_there && info.ok()) {
        EXPECT_EQ(info->version().epoch(), guest.epoch) << name;
      }
      guest.Learn(info);
    }
  }

  // Any of the last changes may be lost.
  void Forget() {
    for (auto& [name, guest] : guests_) {
      guest = {.is_certain = false};
    }
  }

 private:
  struct Guest {
    bool is_there = false;
    // Whether the last change was acknowledged.
    bool is_certain = true;
    std::uint64_t epoch = 0;

    void Learn(const absl::StatusOr<v1::MapInfo>& info) {
      is_there = info.ok();
      is_certain = true;
      epoch = info.ok() ? info->version().epoch() : 0;
    }
  };

  // Learns what became of the last change. Returns false if the server is killed meanwhile.
  static bool Learn(Client& maps, const std::string& name, const Life& life, Guest& guest) {
    const absl::StatusOr<v1::MapInfo> info = InfoOf(maps, name);
    if (!absl::IsNotFound(info.status()) && !life.Judge(info.status())) {
      return false;
    }
    guest.Learn(info);
    return true;
  }

  std::map<std::string, Guest> guests_;
  int turn_ = 0;
};

// Reads a map, which never goes back.
void Read(Client& maps, const std::string& map, const Life& life, KillLedger& ledger) {
  std::uint64_t epoch = 0;
  while (true) {
    const std::uint64_t newest = ledger.Newest(epoch);
    const absl::StatusOr<v1::MapInfo> info = InfoOf(maps, map);
    if (!life.Judge(info.status())) {
      return;
    }
    EXPECT_TRUE(epoch == 0 || epoch == info->version().epoch());
    epoch = info->version().epoch();
    EXPECT_GE(info->version().revision(), newest);
    ledger.Saw(*info);
  }
}

void Watch(Client& maps, const std::string& map, const Life& life, KillLedger& ledger) {
  v1::WatchMapRequest request;
  request.set_map(map);
  const auto events = maps.WatchMap(request);
  v1::WatchMapResponse event;
  std::uint64_t epoch = 0;
  while (events->Next(event)) {
    if (event.has_watching()) {
      epoch = event.watching().version().epoch();
    } else if (event.has_commit()) {
      ledger.Saw(epoch, event.commit().version().revision(), event.commit().digest());
    }
  }
  life.Judge(events->Finish());
}

class KillTest : public ::testing::Test {
 protected:
  KillTest() {
    for (int i = 0; i < kWriters; ++i) {
      writers_.emplace_back(i, kMaps[i % 3]);
    }
  }

  void Start(bool is_relaxed) { StartWith(is_relaxed, {}, ServerProcess::WhenItEnds::kFail); }

  void StartWith(bool is_relaxed, std::vector<std::string> environment,
                 ServerProcess::WhenItEnds when_it_ends) {
    // The next server may get the port of the last one, and is to get a connection of its own.
    maps_.reset();
    const auto begin = std::chrono::steady_clock::now();
    // The least log, so that images are made meanwhile.
    std::vector<std::string> flags = {"--data_dir=" + data_, "--max_log_mib=1", "--max_queue_time=1m",
                                      "--queue_target=1m", "--log_level=error"};
    if (is_relaxed) {
      flags.insert(flags.end(), {"--durability=relaxed", "--sync_interval=10ms"});
    }
    server_ = std::make_unique<ServerProcess>(
        std::move(flags), [] {}, std::move(environment), when_it_ends);
    recoveries_.push_back(absl::FromChrono(std::chrono::steady_clock::now() - begin));
    maps_ = server_->NewClient();
  }

  void Kill() {
    server_->Signal(SIGKILL);
    server_->Wait();
  }

  // Loads the server until it has acknowledged so many batches more, and kills it.
  void LoadAndKill(int batches) {
    Life life;
    Load(life, [&] {
      ledger_.WaitForAcknowledged(ledger_.acknowledged() + batches);
      life.Kill();
      server_->Signal(SIGKILL);
    });
  }

  // Loads the server until it is dead. `end` sees to that.
  void Load(const Life& life, const std::function<void()>& end) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kWriters; ++i) {
      threads.emplace_back([&, i] {
        if (i == 0) {
          writers_[i].Stream(*maps_, life, ledger_);
        } else {
          writers_[i].Run(*maps_, life, ledger_, applied_);
        }
      });
    }
    threads.emplace_back([&] { creator_.Run(*maps_, life, ledger_); });
    threads.emplace_back([&] { Read(*maps_, "north", life, ledger_); });
    threads.emplace_back([&] { Watch(*maps_, "south", life, ledger_); });
    end();
    server_->Wait();
    for (std::thread& thread : threads) {
      thread.join();
    }
  }

  // Compares what the dead server has left with what its clients know.
  void CompareFolder(bool may_lack_newest = false) {
    const auto folder = storage::OpenPosixFolder(data_);
    ASSERT_TRUE(folder.ok()) << folder.status();
    applied_ = ledger_.CompareWith(**folder, may_lack_newest);
  }

  // Compares what the new server shows with it.
  void CompareMaps() {
    for (const char* const map : kMaps) {
      const absl::StatusOr<v1::MapInfo> info = InfoOf(*maps_, map);
      ASSERT_TRUE(info.ok()) << info.status();
      const std::uint64_t epoch = info->version().epoch();
      const std::uint64_t revision = info->version().revision();
      EXPECT_GE(revision, ledger_.Newest(epoch)) << map;
      EXPECT_TRUE(has_lost_ || ledger_.Newest(epoch) > 0) << map << " has another epoch";
      EXPECT_FALSE(ledger_.HasLost(epoch)) << map << " has the epoch of revisions that were lost";
      EXPECT_GE(revision, synced_[map]) << map << " lacks what was synced";
      ledger_.Saw(*info);
      CompareMarks(map);
    }
    creator_.Compare(*maps_);
  }

  // A batch is there as a whole: its first edit and its last.
  void CompareMarks(const std::string& map) {
    v1::ListObstaclesRequest request;
    request.set_map(map);
    const auto response = maps_->ListObstacles(request);
    ASSERT_TRUE(response.ok()) << response.status();
    std::map<std::string, std::string> marks;
    for (const v1::Obstacle& obstacle : response->obstacles()) {
      marks[obstacle.id()] = obstacle.shape().ShortDebugString();
    }
    for (const Writer& writer : writers_) {
      if (writer.map() == map) {
        EXPECT_EQ(marks[writer.FirstMark()], marks[writer.LastMark()]) << "half a batch";
      }
    }
  }

  void CreateMaps() {
    for (const char* const map : kMaps) {
      const auto response =
          maps_->CreateMap(map == absl::string_view(kMesh) ? SlopedMesh(map) : BlankMap(map, kSide));
      ASSERT_TRUE(response.ok()) << response.status();
      ledger_.Saw(response->info());
    }
  }

  const OwnFolder folder_;
  const std::string data_ = (std::filesystem::canonical(folder_.path()) / "data").string();
  KillLedger ledger_;
  std::vector<Writer> writers_;
  Creator creator_;
  // The revision of each request that the log has.
  std::map<std::string, std::uint64_t> applied_;
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<Client> maps_;
  std::vector<absl::Duration> recoveries_;
  // Whether revisions that were seen may be lost, and those of each map that may not.
  bool has_lost_ = false;
  std::map<std::string, std::uint64_t> synced_;
};

TEST_F(KillTest, LosesNothingThatWasAcknowledgedOrSeen) {
  Random random(17);
  Start(false);
  CreateMaps();
  const int kills = Kills();
  for (int kill = 0; kill < kills && !HasFailure(); ++kill) {
    SCOPED_TRACE(absl::StrCat("kill ", kill));
    LoadAndKill(random.Between(1, 300));
    CompareFolder();
    Start(kill % 2 == 0);
    if (random.Chance(0.3)) {
      // What it still does after its start is cut short, too.
      Kill();
      Start(kill % 2 == 0);
    }
    CompareMaps();
  }
  std::sort(recoveries_.begin(), recoveries_.end());
  std::printf("%d kills, %zu acknowledged batches; from start to first answer: median %s, max %s\n", kills,
              ledger_.acknowledged(), absl::FormatDuration(recoveries_[recoveries_.size() / 2]).c_str(),
              absl::FormatDuration(recoveries_.back()).c_str());
}

class LossTest : public KillTest {
 protected:
  void SetUp() override {
#ifdef WAYSTAR_IS_SANITIZED
    GTEST_SKIP() << "a sanitizer does not bear what is preloaded";
#endif
  }

  void StartWatched(int kill_at = 0) {
    StartWith(is_relaxed_, loss_.Environment(kill_at),
              kill_at == 0 ? ServerProcess::WhenItEnds::kFail : ServerProcess::WhenItEnds::kReturn);
  }

  // Starts a server that one of its first syncs kills, during its start or later.
  void LiveUntilSync(int sync) {
    StartWatched(sync);
    if (server_->port() == 0) {
      server_->Wait();
      return;
    }
    Life life;
    life.Kill();
    Load(life, [] {});
  }

  void LiveShortly() {
    switch (random_.Between(0, 3)) {
      case 0:
        LiveUntilSync(random_.Between(1, 8));
        break;
      case 1:
        LiveUntilSync(random_.Between(1, 100));
        break;
      case 2:
        StartWatched();
        CompareMaps();
        Kill();
        break;
      default:
        StartWatched();
        LoadAndKill(random_.Between(1, 5));
        break;
    }
  }

  // Makes a last change of each map, and waits until it is synced though no other follows.
  void ChangeAndWaitForSync() {
    for (Writer& writer : writers_) {
      const v1::UpdateMapRequest batch = writer.Next();
      const auto response = maps_->UpdateMap(batch);
      ASSERT_TRUE(response.ok()) << response.status();
      ledger_.Acknowledged(*response, batch.request_id());
      synced_[writer.map()] = response->version().revision();
    }
    WaitUntil([&] { return loss_.IsLogStable(); }, "the sync of the log");
  }

  void LoseUnsynced() {
    loss_.Lose(random_);
    if (is_relaxed_) {
      has_lost_ = true;
      creator_.Forget();
    }
    CompareFolder(is_relaxed_);
  }

  // Servers that live for some time or shortly, and then a loss.
  void LiveAndLose() {
    loss_.MakeFolder();
    StartWatched();
    CreateMaps();
    const int rounds = Kills();
    for (int round = 0; round < rounds && !HasFailure(); ++round) {
      SCOPED_TRACE(absl::StrCat("round ", round));
      if (is_relaxed_ && random_.Chance(0.5)) {
        ChangeAndWaitForSync();
      }
      LoadAndKill(random_.Between(1, 300));
      for (int lives = random_.Between(0, 3); lives > 0 && !HasFailure(); --lives) {
        LiveShortly();
      }
      if (HasFailure()) {
        break;
      }
      LoseUnsynced();
      StartWatched();
      CompareMaps();
    }
    std::printf("%d losses, %zu starts, %zu acknowledged batches\n", rounds, recoveries_.size(),
                ledger_.acknowledged());
  }

  bool is_relaxed_ = false;
  Random random_{23};
  UnsyncedLoss loss_{folder_.path()};
};

TEST_F(LossTest, KeepsTheFolderThatItHasMade) {
  StartWatched();
  CreateMaps();
  Kill();
  LoseUnsynced();
  StartWatched();
  CompareMaps();
}

TEST_F(LossTest, LosesNothingThatWasAcknowledgedOrSeen) { LiveAndLose(); }

TEST_F(LossTest, LosesOnlyWhatIsNotSyncedIfRelaxed) {
  is_relaxed_ = true;
  LiveAndLose();
}

}  // namespace
}  // namespace waystar
