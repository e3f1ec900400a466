// Makes images of maps, so that log files are not needed any more.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/core/store/map_store.h"
#include "server/core/store/map_version.h"
#include "server/storage/commit_log.h"
#include "server/storage/folder.h"
#include "server/storage/folder_reader.h"
#include "server/storage/image_file.h"
#include "server/storage/live_maps.h"

namespace waystar::storage {

// When it is told to, it makes a round: it begins another log file, makes an image of each map that has none
// as new as that file's beginning, and then removes the files before it, and images that others have
// replaced. A round that fails is gone on with later, without yet another file. Updates go on meanwhile.
// Maps that are unloaded have an image, and need no other.
//
// Thread safety: any method may be called from any thread, except Start and Stop.
class ImageMaker {
 public:
  struct Statistics {
    // OK, or why the last images could not be made. Changes go on, and the log grows.
    absl::Status status;
    // The images that are needed to start again.
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
  };

  // The folder and the store must outlive the maker.
  ImageMaker(Folder& folder, const core::MapStore& store, KnownFiles files, absl::Duration retry_interval);
  ImageMaker(const ImageMaker&) = delete;
  ImageMaker& operator=(const ImageMaker&) = delete;
  // Stops.
  ~ImageMaker();

  // Starts the thread. The log must outlive it.
  void Start(CommitLog& log);
  void Stop();

  // Has images made soon. After an error it is tried again by itself.
  void MakeSoon();

  // Makes sure that there is an image of the latest version of a map in memory, and returns that. Returns the
  // errors of MapStore::Store, of the log and of the folder. It waits for the log.
  absl::StatusOr<core::MapVersion> Keep(absl::string_view id) ABSL_LOCKS_EXCLUDED(files_mutex_);
  // Returns the map of its newest image: FAILED_PRECONDITION if that is not of this version; DATA_LOSS if it
  // is damaged; the errors of the folder.
  absl::StatusOr<MapState> Read(absl::string_view id, core::MapVersion version) const
      ABSL_LOCKS_EXCLUDED(files_mutex_);

  Statistics GetStatistics() const;

 private:
  void Run();
  // Goes on with a round, or begins one. Returns ABORTED if it is soon to be gone on with.
  absl::Status Make();
  // Makes an image unless there is one. Returns false if there is none because the map is being created,
  // replaced or deleted; then it is to be tried again.
  absl::StatusOr<bool> RequireImage(const LiveMap& map) ABSL_LOCKS_EXCLUDED(files_mutex_);
  absl::Status Write(const core::StoredMap& map) ABSL_EXCLUSIVE_LOCKS_REQUIRED(files_mutex_);
  // Forgets images that others have removed.
  absl::Status ForgetMissingImages() ABSL_LOCKS_EXCLUDED(files_mutex_);
  absl::Status RemoveNeedless() ABSL_LOCKS_EXCLUDED(files_mutex_);
  void NoteFiles() ABSL_LOCKS_EXCLUDED(files_mutex_);

  Folder& folder_;
  const core::MapStore& store_;
  // How long after an error it is tried again.
  const absl::Duration retry_interval_;
  CommitLog* log_ = nullptr;

  // The thread's, once it is started: what the log file of the round begins with.
  std::optional<LogStart> round_;

  // Held while an image is written.
  mutable Mutex files_mutex_;
  KnownFiles files_ ABSL_GUARDED_BY(files_mutex_);
  // Images that others have replaced, or whose maps are gone.
  std::vector<std::string> needless_ ABSL_GUARDED_BY(files_mutex_);

  mutable Mutex mutex_;
  CondVar wake_;
  bool is_wanted_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> is_stopping_ = false;
  Statistics statistics_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace waystar::storage
