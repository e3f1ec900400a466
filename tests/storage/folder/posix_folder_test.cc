#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/storage/folder/commit_log.h"
#include "server/storage/folder/folder.h"
#include "server/storage/folder/image_file.h"
#include "tests/storage/folder/durable_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/own_folder.h"
#include "tests/testing/status_matchers.h"

namespace waystar::storage {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class PosixFolderTest : public ::testing::Test {
 protected:
  PosixFolderTest() : path_(own_.PathOf("data")), folder_(*OpenPosixFolder(path_)) {}

  std::unique_ptr<AppendFile> Write(const std::string& name, absl::string_view bytes) {
    auto file = folder_->Create(name);
    EXPECT_THAT(file, IsOk());
    EXPECT_THAT((*file)->Append(bytes), IsOk());
    return *std::move(file);
  }

  fs::path PathOf(const std::string& name) const { return fs::path(path_) / name; }

  OwnFolder own_;
  const std::string path_;
  std::unique_ptr<Folder> folder_;
};

TEST_F(PosixFolderTest, IsLockedItself) {
  EXPECT_EQ(OpenPosixFolder(path_).status().code(), absl::StatusCode::kFailedPrecondition);
  // There is no file that could be removed to unlock it.
  EXPECT_TRUE(fs::is_empty(path_));
  folder_.reset();
  EXPECT_THAT(OpenPosixFolder(path_), IsOk());
}

TEST_F(PosixFolderTest, NamesPathsWithoutNeedlessSlashes) {
  EXPECT_EQ(folder_->PathOf("file"), path_ + "/file");
  EXPECT_EQ(folder_->PathOf(""), path_);
  folder_.reset();
  folder_ = *OpenPosixFolder(path_ + "/");
  EXPECT_EQ(folder_->PathOf("file"), path_ + "/file");
  EXPECT_EQ(folder_->PathOf(""), path_);
}

// Returns whether the folder at a path was opened itself, as it must be to sync it, while `call` ran.
bool IsOpenedBy(const std::string& path, const std::function<void()>& call) {
  const int watch = inotify_init1(IN_NONBLOCK);
  EXPECT_GE(inotify_add_watch(watch, path.c_str(), IN_OPEN), 0);
  call();
  alignas(inotify_event) std::array<char, 4096> events = {};
  const ssize_t length = read(watch, events.data(), events.size());
  close(watch);
  bool is_opened = false;
  for (ssize_t at = 0; at < length;) {
    inotify_event event = {};
    std::memcpy(&event, events.data() + at, sizeof(event));
    is_opened = is_opened || event.len == 0;
    at += static_cast<ssize_t>(sizeof(event) + event.len);
  }
  return is_opened;
}

TEST_F(PosixFolderTest, NameOfTheFolderIsSyncedUntilThereIsALog) {
  const std::string parent = fs::path(path_).parent_path().string();
  const auto open = [&](const std::string& path) {
    folder_.reset();
    folder_ = *OpenPosixFolder(path);
  };
  EXPECT_TRUE(IsOpenedBy(parent, [&] { open(path_ + "-new"); }));
  EXPECT_TRUE(IsOpenedBy(parent, [&] { open(path_ + "-newer/"); }));
  // Who created it may not have synced it.
  EXPECT_TRUE(IsOpenedBy(parent, [&] { open(path_); }));
  Write("MARK", "");
  EXPECT_TRUE(IsOpenedBy(parent, [&] { open(path_); }));
  Write(LogFileName(1), "");
  EXPECT_FALSE(IsOpenedBy(parent, [&] { open(path_); }));
}

TEST_F(PosixFolderTest, PipesAndFoldersAreRefusedAndHoldNobody) {
  ASSERT_EQ(mkfifo(PathOf("pipe").c_str(), 0600), 0);
  ASSERT_TRUE(fs::create_directory(PathOf("folder")));
  for (const char* const name : {"pipe", "folder"}) {
    EXPECT_EQ(folder_->Read(name).status().code(), absl::StatusCode::kFailedPrecondition) << name;
    EXPECT_FALSE(folder_->Create(name).ok()) << name;
    EXPECT_FALSE(folder_->OpenSector(name).ok()) << name;
    EXPECT_FALSE(folder_->Secure(name, 0).ok()) << name;
  }
}

// In the place of each file that a start reads.
TEST_F(PosixFolderTest, PipesHoldNoStart) {
  std::string image;
  {
    DurableStore store(*folder_);
    const auto arena = store.store().Create("arena", DrawMap({"..."}), absl::UnixEpoch());
    ASSERT_THAT(arena, IsOk());
    image = ImageFileName({.map = "arena", .version = (*arena)->version()});
  }
  for (const std::string& name : {image, LogFileName(1), LogFileName(2), std::string(kMarkName)}) {
    const fs::path path = PathOf(name);
    const fs::path aside = PathOf("aside");
    const bool is_there = fs::exists(path);
    if (is_there) {
      fs::rename(path, aside);
    }
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0) << name;
    const absl::Status status = DurableStore(*folder_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << name;
    EXPECT_THAT(status.message(), HasSubstr(path.string()));
    fs::remove(path);
    if (is_there) {
      fs::rename(aside, path);
    }
  }
  EXPECT_THAT(DurableStore(*folder_).status(), IsOk());
}

TEST_F(PosixFolderTest, FilesThatOthersTouchAreNoticed) {
  const auto file = Write("file", "bytes");
  EXPECT_THAT(file->CheckIs("file"), IsOk());
  EXPECT_EQ(file->CheckIs("other").code(), absl::StatusCode::kDataLoss);
  fs::rename(PathOf("file"), PathOf("moved"));
  EXPECT_EQ(file->CheckIs("file").code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(file->CheckIs("moved"), IsOk());
  fs::resize_file(PathOf("moved"), 2);
  EXPECT_EQ(file->CheckIs("moved").code(), absl::StatusCode::kDataLoss);
  // Another one of the same name and length.
  const auto first = Write("first", "bytes");
  fs::remove(PathOf("first"));
  const auto second = Write("first", "bytes");
  EXPECT_EQ(first->CheckIs("first").code(), absl::StatusCode::kDataLoss);
  fs::remove_all(path_);
  EXPECT_EQ(second->CheckIs("first").code(), absl::StatusCode::kDataLoss);
}

TEST_F(PosixFolderTest, SecuresAndOverwritesFiles) {
  Write("file", "some bytes");
  EXPECT_THAT(folder_->Secure("file", 4), IsOk());
  EXPECT_THAT(folder_->Secure("file", 10), IsOk());
  EXPECT_EQ(*folder_->Read("file"), "some bytes");
  EXPECT_TRUE(absl::IsNotFound(folder_->Secure("missing", 0)));
  for (const char* const text : {"first", "other"}) {
    const auto sector = folder_->OpenSector("sector");
    ASSERT_THAT(sector, IsOk());
    EXPECT_THAT((*sector)->Overwrite(text), IsOk());
    EXPECT_THAT((*sector)->Sync(), IsOk());
    EXPECT_EQ(*folder_->Read("sector"), text);
  }
}

TEST_F(PosixFolderTest, ListsTheFolderThatIsOpen) {
  Write("file", "");
  fs::rename(path_, path_ + "-moved");
  fs::create_directory(path_);
  EXPECT_EQ(folder_->List()->size(), 1U);
  EXPECT_THAT(folder_->SystemRun(), Not(IsEmpty()));
}

}  // namespace
}  // namespace waystar::storage
