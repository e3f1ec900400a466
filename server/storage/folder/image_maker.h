// Background thread that makes images of maps so that log files can be removed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/base/thread.h"
#include "server/core/map/map_version.h"
#include "server/core/store/map_store.h"
#include "server/storage/folder/commit_log.h"
#include "server/storage/folder/folder.h"
#include "server/storage/folder/folder_reader.h"
#include "server/storage/folder/image_file.h"
#include "server/storage/folder/log_entry.h"

namespace waystar::storage {

// A requested round starts a new log file, makes an image of each map whose image is older than the start of
// that file, and then removes older log files and replaced images. A failed round is resumed later without
// another log file. Updates proceed meanwhile. Unloaded maps already have an image.
//
// Thread safety: any method may be called from any thread, except Start and Stop.
class ImageMaker {
 public:
  struct Statistics {
    // OK, or why the last images could not be made. Changes still succeed, and the log grows.
    absl::Status status;
    // Number and total size of the images needed for the next start.
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
  };

  // `folder` and `store` must outlive the maker.
  ImageMaker(Folder& folder, const core::MapStore& store, KnownFiles files, absl::Duration retry_interval);
  ImageMaker(const ImageMaker&) = delete;
  ImageMaker& operator=(const ImageMaker&) = delete;
  // Calls Stop.
  ~ImageMaker() { Stop(); }

  // Starts the thread. The log must outlive the thread.
  void Start(CommitLog& log);
  void Stop() { thread_.Stop(mutex_); }

  // Requests a round. A failed round is retried automatically.
  void MakeSoon();

  // Makes sure that a loaded map has an image of its latest version, and returns that version. Waits for the
  // log. Returns the errors of MapStore::Store, of the log and of the folder.
  absl::StatusOr<core::MapVersion> Keep(absl::string_view id) ABSL_LOCKS_EXCLUDED(files_mutex_);
  // Reads the newest image of a map. Returns FAILED_PRECONDITION if it has another version, DATA_LOSS if it
  // is damaged, and the errors of the folder.
  absl::StatusOr<MapState> Read(absl::string_view id, core::MapVersion version) const
      ABSL_LOCKS_EXCLUDED(files_mutex_);

  Statistics GetStatistics() const;

 private:
  void Run();
  // Starts or resumes a round. Returns ABORTED if it should be resumed soon.
  absl::Status Make();
  // Makes an image unless there is one. Returns false if the map is being created, replaced or deleted, so
  // that it must be retried.
  absl::StatusOr<bool> RequireImage(const LiveMap& map) ABSL_LOCKS_EXCLUDED(files_mutex_);
  absl::Status Write(const core::StoredMap& map) ABSL_EXCLUSIVE_LOCKS_REQUIRED(files_mutex_);
  // Forgets images that someone else has removed.
  absl::Status ForgetMissingImages() ABSL_LOCKS_EXCLUDED(files_mutex_);
  absl::Status RemoveNeedless() ABSL_LOCKS_EXCLUDED(files_mutex_);
  void NoteFiles() ABSL_LOCKS_EXCLUDED(files_mutex_);

  Folder& folder_;
  const core::MapStore& store_;
  // Delay after an error.
  const absl::Duration retry_interval_;
  CommitLog* log_ = nullptr;

  // Used by the thread only, once started: the start of the round's log file.
  std::optional<LogStart> round_;

  // Held while an image is written.
  mutable Mutex files_mutex_;
  KnownFiles files_ ABSL_GUARDED_BY(files_mutex_);
  // Images that were replaced, or whose maps were deleted.
  std::vector<std::string> needless_ ABSL_GUARDED_BY(files_mutex_);

  mutable Mutex mutex_;
  bool is_wanted_ ABSL_GUARDED_BY(mutex_) = false;
  Statistics statistics_ ABSL_GUARDED_BY(mutex_);
  StoppableThread thread_;
};

}  // namespace waystar::storage
