// Store whose maps are kept in a folder of a test.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/store/map_store.h"
#include "server/storage/data_folder.h"
#include "server/storage/folder.h"

namespace waystar::testing {

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
      : store_(std::move(store_options)) {
    auto data = storage::DataFolder::Open(std::make_unique<BorrowedFolder>(folder), store_, options, found_);
    status_ = data.status();
    if (data.ok()) {
      data_ = *std::move(data);
    }
  }

  // Returns whether it has started. REQUIRES, for the rest: it has.
  const absl::Status& status() const { return status_; }

  core::MapStore& store() { return store_; }
  storage::DataFolder& data() { return *data_; }
  const storage::DataFound& found() const { return found_; }

 private:
  core::MapStore store_;
  storage::DataFound found_;
  absl::Status status_;
  std::unique_ptr<storage::DataFolder> data_;
};

}  // namespace waystar::testing
