// Store whose maps are kept in a folder of a test.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "server/core/store/map_store.h"
#include "server/storage/folder/data_folder.h"
#include "server/storage/folder/folder.h"
#include "tests/storage/folder/crashing_folder.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"

namespace waystar {

// Returns the names of a folder's files that begin so, in their order.
inline std::vector<std::string> FilesThatBegin(absl::string_view prefix, const storage::Folder& folder) {
  std::vector<std::string> names = *folder.List();
  std::erase_if(names, [&](const std::string& name) { return !absl::StartsWith(name, prefix); });
  return names;
}
inline std::vector<std::string> FilesThatBegin(absl::string_view prefix,
                                               const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (std::string name = entry.path().filename().string(); absl::StartsWith(name, prefix)) {
      names.push_back(std::move(name));
    }
  }
  std::ranges::sort(names);
  return names;
}

// Folder that belongs to another.
class BorrowedFolder : public storage::Folder {
 public:
  explicit BorrowedFolder(storage::Folder& folder) : folder_(folder) {}

  std::string PathOf(absl::string_view name) const override { return folder_.PathOf(name); }
  std::string SystemRun() const override { return folder_.SystemRun(); }
  absl::StatusOr<std::unique_ptr<storage::AppendFile>> Create(absl::string_view name) override {
    return folder_.Create(name);
  }
  absl::StatusOr<std::unique_ptr<storage::SectorFile>> OpenSector(absl::string_view name) override {
    return folder_.OpenSector(name);
  }
  absl::StatusOr<std::string> Read(absl::string_view name) const override { return folder_.Read(name); }
  absl::StatusOr<std::uint64_t> Size(absl::string_view name) const override { return folder_.Size(name); }
  absl::StatusOr<std::vector<std::string>> List() const override { return folder_.List(); }
  absl::Status Secure(absl::string_view name, std::uint64_t from) override {
    return folder_.Secure(name, from);
  }
  absl::Status Rename(absl::string_view from, absl::string_view to) override {
    return folder_.Rename(from, to);
  }
  absl::Status Remove(absl::string_view name) override { return folder_.Remove(name); }
  absl::Status SyncNames() override { return folder_.SyncNames(); }

 private:
  storage::Folder& folder_;
};

// Returns what opens the folder, whatever the path.
inline auto OpenBorrowed(storage::Folder& folder) {
  return [&folder](const std::string& /*path*/) -> absl::StatusOr<std::unique_ptr<storage::Folder>> {
    return std::make_unique<BorrowedFolder>(folder);
  };
}

// Store with its folder, from its start to its end.
class DurableStore {
 public:
  // The folder must outlive the store.
  explicit DurableStore(storage::Folder& folder, const storage::DataOptions& options = {},
                        core::StoreOptions store_options = {})
      : DurableStore(std::make_unique<BorrowedFolder>(folder), options, std::move(store_options)) {}
  // Takes what OpenPosixFolder returns.
  explicit DurableStore(absl::StatusOr<std::unique_ptr<storage::Folder>> folder,
                        const storage::DataOptions& options = {}, core::StoreOptions store_options = {})
      : store_(std::move(store_options)), status_(folder.status()) {
    if (status_.ok()) {
      auto data = storage::DataFolder::Open(*std::move(folder), store_, options, found_);
      status_ = data.status();
      if (data.ok()) {
        data_ = *std::move(data);
      }
    }
  }

  // Returns whether it has started. REQUIRES, for the rest: it has.
  const absl::Status& status() const { return status_; }

  core::MapStore& store() { return store_; }
  storage::DataFolder& data() { return *data_; }
  const storage::DataFound& found() const { return found_; }

  // Returns the new revision; fails the test if the update fails.
  std::uint64_t Update(absl::string_view map, std::vector<core::Edit> edits, std::string request_id = "") {
    const auto result =
        store_.UpdateAndWait(map, {.edits = std::move(edits), .request_id = std::move(request_id)});
    EXPECT_THAT(result, IsOk());
    return result.ok() ? result->revision : 0;
  }

  // Waits until there are as many images, and one file of the log. REQUIRES: max_log_bytes is 2, so that a
  // file that holds more than nothing is long.
  bool WaitForImages(std::uint64_t count) {
    const auto are_made = [&] {
      const storage::DataStatistics statistics = data_->Statistics();
      EXPECT_THAT(statistics.images.status, IsOk());
      return !statistics.images.status.ok() ||
             (statistics.log.files <= 1 && statistics.images.count >= count);
    };
    return WaitUntil(are_made, "the images, and the end of old files");
  }

 private:
  core::MapStore store_;
  storage::DataFound found_;
  absl::Status status_;
  std::unique_ptr<storage::DataFolder> data_;
};

// A disk whose syncs hang from some point on until they are let go.
struct Disk {
  CrashingFolder folder;
  std::atomic<bool> hangs = false;
  Event syncs{"a sync"};
  Event goes_on{"the end of the test's hang"};
};

class HangingFile final : public storage::AppendFile {
 public:
  HangingFile(std::unique_ptr<storage::AppendFile> file, Disk& disk) : file_(std::move(file)), disk_(disk) {}

  absl::Status Append(absl::string_view bytes) override { return file_->Append(bytes); }
  absl::Status Sync() override {
    if (disk_.hangs) {
      disk_.syncs.Happen();
      disk_.goes_on.Wait();
    }
    return file_->Sync();
  }
  absl::Status CheckIs(absl::string_view name) const override { return file_->CheckIs(name); }

 private:
  const std::unique_ptr<storage::AppendFile> file_;
  Disk& disk_;
};

class HangingFolder final : public BorrowedFolder {
 public:
  explicit HangingFolder(Disk& disk) : BorrowedFolder(disk.folder), disk_(disk) {}

  absl::StatusOr<std::unique_ptr<storage::AppendFile>> Create(absl::string_view name) override {
    auto file = BorrowedFolder::Create(name);
    if (!file.ok()) {
      return file;
    }
    return std::make_unique<HangingFile>(*std::move(file), disk_);
  }

 private:
  Disk& disk_;
};

}  // namespace waystar
