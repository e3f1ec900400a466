// The folder that makes a store's maps durable: its log, and images of its maps.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/core/store/map_source.h"
#include "server/core/store/map_store.h"
#include "server/core/store/map_version.h"
#include "server/storage/commit_log.h"
#include "server/storage/folder.h"
#include "server/storage/folder_reader.h"
#include "server/storage/image_maker.h"
#include "server/storage/log_entry.h"

namespace waystar::storage {

struct DataOptions {
  CommitLogOptions log;
  // The most that the log files hold together; changes fail while they hold more. When the one that is
  // written holds a quarter of it, an image of each map that has changed is made, and the others are removed.
  std::uint64_t max_log_bytes = std::uint64_t{256} << 20;
  // How long after images could not be made it is tried again.
  absl::Duration image_retry_interval = absl::Seconds(5);
  ReadOptions read;
};

struct DataStatistics {
  CommitLogStatistics log;
  ImageMaker::Statistics images;
};

// Two threads of its own: one writes the log, the other makes images and removes files that are not needed.
//
// It is where unloaded maps are read from: each has an image of its latest version.
//
// Thread safety: any method may be called from any thread, except Stop.
class DataFolder final : public core::MapSource {
 public:
  // Puts the maps of the folder into the store, and makes what happens to maps from then on durable. The
  // store must be empty and not shared between threads yet; it must outlive this, which must outlive the
  // updates of its maps. Returns DATA_LOSS if a map is damaged and not to be skipped, or if the log is
  // damaged, missing or cut; it names the file and the offset, and nothing in the folder was changed. Of maps
  // that are skipped the files are copied first; they can only be deleted or replaced. If it cannot be known
  // whether the log is all there, maps get new epochs. If the folder cannot be written, though it holds maps,
  // these are served, and changes fail until it can. Returns FAILED_PRECONDITION if a file is of a version
  // that is not known; the errors of MapStore::Restore; and those of the folder.
  static absl::StatusOr<std::unique_ptr<DataFolder>> Open(std::unique_ptr<Folder> folder,
                                                          core::MapStore& store, const DataOptions& options,
                                                          DataFound& found);
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;
  // Stops.
  ~DataFolder() override { Stop(); }

  // Returns once all that was acknowledged before is on stable storage, or the error for which changes are
  // refused.
  absl::Status Sync() { return log_->Sync().status(); }

  absl::StatusOr<core::MapVersion> Keep(absl::string_view id) override { return images_.Keep(id); }
  absl::Status Load(absl::string_view id) override;

  // Makes durable what waits, and ends the threads; CommitLogOptions::on_end is told whether that has worked.
  // REQUIRES: no map is created, changed or deleted any more.
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
  // Each has a thread that calls the other.
  std::unique_ptr<CommitLog> log_;
  ImageMaker images_;
};

}  // namespace waystar::storage
