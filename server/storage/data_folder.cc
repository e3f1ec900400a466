#include "server/storage/data_folder.h"

#include <algorithm>
#include <string>

#include "server/base/status_macros.h"

namespace waystar::storage {
namespace {

// A log may grow by as much while images are made, however short it is to be.
constexpr std::uint64_t kLeastLimit = std::uint64_t{1} << 20;

}  // namespace

absl::StatusOr<std::unique_ptr<DataFolder>> DataFolder::Open(std::unique_ptr<Folder> folder,
                                                             core::MapStore& store,
                                                             const DataOptions& options, DataFound& found) {
  WAYSTAR_ASSIGN_OR_RETURN(FolderContents contents, ReadFolder(*folder, store, options.read));
  Folder& opened = *folder;
  const bool is_whole = contents.files.damaged_maps.empty();
  auto data =
      std::unique_ptr<DataFolder>(new DataFolder(std::move(folder), store, std::move(contents.files)));
  WAYSTAR_RETURN_IF_ERROR(data->Start(contents.next, options));
  if (is_whole) {
    for (const std::string& name : contents.left_overs) {
      // One that stays does no harm.
      static_cast<void>(opened.Remove(name));
    }
  }
  store.SetLog(data->log_.get(), contents.next.first_revision);
  found = std::move(contents.found);
  return data;
}

absl::Status DataFolder::Start(LogStart start, const DataOptions& options) {
  CommitLogOptions log_options = options.log;
  log_options.file_bytes = options.max_log_bytes / 2;
  log_options.max_file_bytes = std::max(kLeastLimit, 2 * options.max_log_bytes);
  log_options.on_long_file = [this] { images_.MakeSoon(); };
  WAYSTAR_ASSIGN_OR_RETURN(log_, CommitLog::Start(*folder_, std::move(start), std::move(log_options)));
  if (images_.GetStatistics().old_log_bytes > options.max_log_bytes / 2) {
    images_.MakeSoon();
  }
  images_.Start(*log_);
  return absl::OkStatus();
}

void DataFolder::Stop() {
  images_.Stop();
  if (log_ != nullptr) {
    log_->Stop();
  }
}

DataStatistics DataFolder::Statistics() const {
  const ImageMaker::Statistics images = images_.GetStatistics();
  const CommitLogStatistics log = log_->Statistics();
  return {.log_status = log.status,
          .image_status = images.status,
          .groups = log.groups,
          .entries = log.entries,
          .written_bytes = log.written_bytes,
          .commit_time = log.commit_time,
          .refusals = log.refusals,
          .syncs = log.syncs,
          .sync_time = log.sync_time,
          .loss_window = log.loss_window,
          .unsynced_age = log.unsynced_age,
          .log_bytes = images.old_log_bytes + log.file_bytes,
          .images = images.images,
          .image_bytes = images.image_bytes};
}

}  // namespace waystar::storage
