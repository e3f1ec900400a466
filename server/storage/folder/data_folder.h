// Folder that makes the maps of a store durable: a commit log and images of the maps.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/core/map/map_version.h"
#include "server/core/store/map_store.h"
#include "server/core/store/store_listener.h"
#include "server/storage/folder/commit_log.h"
#include "server/storage/folder/folder.h"
#include "server/storage/folder/folder_reader.h"
#include "server/storage/folder/image_maker.h"
#include "server/storage/folder/log_entry.h"

namespace waystar::storage {

struct DataOptions {
  CommitLogOptions log;
  // Limit on the size of all log files in bytes; changes fail above it. At a quarter of it, an image of each
  // changed map is made and old log files are removed.
  std::uint64_t max_log_bytes = std::uint64_t{256} << 20;
  // Delay before failed images are retried.
  absl::Duration image_retry_interval = absl::Seconds(5);
  ReadOptions read;
};

struct DataStatistics {
  CommitLogStatistics log;
  ImageMaker::Statistics images;
};

// Runs two threads: one writes the log, the other makes images and removes files that are not needed.
// Unloaded maps are read from here: each has an image of its latest version.
//
// Thread safety: any method may be called from any thread, except Stop.
class DataFolder final : public core::MapSource {
 public:
  // Loads the maps of the folder into the store, and makes later changes durable.
  //
  // If it cannot be known whether the end of the log is complete, maps get new epochs. Files of skipped
  // damaged maps are copied first; such maps can only be deleted or replaced. If a folder with maps cannot be
  // written, the maps are served, and changes fail until it can.
  //
  // Returns DATA_LOSS, with the file and the offset, if the log is damaged, missing or cut, or if a map is
  // damaged and damaged maps are not skipped; the folder is unchanged then. Returns FAILED_PRECONDITION if a
  // file has an unknown format version; and the errors of MapStore::Restore and of the folder.
  //
  // REQUIRES: the store is empty and not shared between threads yet.
  // REQUIRES: the store outlives the folder, and the folder outlives the updates of its maps.
  static absl::StatusOr<std::unique_ptr<DataFolder>> Open(std::unique_ptr<Folder> folder,
                                                          core::MapStore& store, const DataOptions& options,
                                                          DataFound& found);
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;
  ~DataFolder() override { Stop(); }

  // Waits until everything acknowledged before is on stable storage. Returns the reason why changes fail, if
  // they do.
  absl::Status Sync() { return log_->Sync().status(); }

  absl::StatusOr<core::MapVersion> Keep(absl::string_view id) override { return images_.Keep(id); }
  absl::Status Load(absl::string_view id) override;

  // Makes all waiting entries durable and ends the threads. CommitLogOptions::on_end gets the result.
  // REQUIRES: no map is created, changed or deleted afterwards.
  void Stop();

  DataStatistics Statistics() const;

 private:
  DataFolder(std::unique_ptr<Folder> folder, core::MapStore& store, KnownFiles files,
             const DataOptions& options)
      : folder_(std::move(folder)),
        store_(store),
        images_(*folder_, store, std::move(files), options.image_retry_interval) {}

  void Start(const LogStart& start, std::vector<OldLogFile> logs, const DataOptions& options);

  const std::unique_ptr<Folder> folder_;
  core::MapStore& store_;
  // The threads of these two call each other.
  std::unique_ptr<CommitLog> log_;
  ImageMaker images_;
};

}  // namespace waystar::storage
