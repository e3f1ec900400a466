// Folder whose syncs of files hang.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/storage/folder/folder.h"
#include "tests/storage/folder/crashing_folder.h"
#include "tests/storage/folder/durable_store.h"
#include "tests/testing/patience.h"

namespace waystar::testing {

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

}  // namespace waystar::testing
