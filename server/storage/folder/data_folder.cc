#include "server/storage/folder/data_folder.h"

#include <algorithm>
#include <optional>
#include <string>

#include "server/base/error.h"

namespace waystar::storage {
namespace {

// Minimum limit of the log in bytes.
constexpr std::uint64_t kLeastLimit = std::uint64_t{1} << 20;

// Images are made when the log reaches 1/kLongShare of its limit, which leaves room for updates meanwhile.
constexpr std::uint64_t kLongShare = 4;

}  // namespace

absl::StatusOr<std::unique_ptr<DataFolder>> DataFolder::Open(std::unique_ptr<Folder> folder,
                                                             core::MapStore& store,
                                                             const DataOptions& options, DataFound& found) {
  WAYSTAR_ASSIGN_OR_RETURN(FolderContents contents, ReadFolder(*folder, store, options.read));
  Folder& opened = *folder;
  WAYSTAR_RETURN_IF_ERROR(KeepFiles(*folder, contents.found.kept));
  const bool is_new = contents.logs.empty();
  auto data = std::unique_ptr<DataFolder>(
      new DataFolder(std::move(folder), store, std::move(contents.files), options));
  data->Start(contents.next, std::move(contents.logs), options);
  const absl::Status begun = data->Statistics().log.status;
  if (is_new) {
    WAYSTAR_RETURN_IF_ERROR(begun);
  }
  if (begun.ok()) {
    for (const std::string& name : contents.left_overs) {
      // A leftover that stays does no harm.
      static_cast<void>(opened.Remove(name));
    }
  }
  store.SetLog(data->log_.get());
  found = std::move(contents.found);
  return data;
}

void DataFolder::Start(const LogStart& start, std::vector<OldLogFile> logs, const DataOptions& options) {
  CommitLogOptions log_options = options.log;
  log_options.long_bytes = options.max_log_bytes / kLongShare;
  log_options.max_bytes = std::max(kLeastLimit, options.max_log_bytes);
  log_options.on_long = [this] { images_.MakeSoon(); };
  log_ = std::make_unique<CommitLog>(*folder_, start, std::move(logs), std::move(log_options));
  if (log_->IsLong()) {
    images_.MakeSoon();
  }
  images_.Start(*log_);
}

absl::Status DataFolder::Load(absl::string_view id) {
  const std::optional<core::MapVersion> version = store_.UnloadedVersion(id);
  if (!version) {
    return absl::OkStatus();
  }
  const absl::Status loaded = [&]() -> absl::Status {
    WAYSTAR_ASSIGN_OR_RETURN(MapState map, images_.Read(id, *version));
    return store_.Load(std::move(map));
  }();
  // The map may have been deleted or replaced meanwhile.
  return store_.UnloadedVersion(id) == version ? loaded : absl::OkStatus();
}

void DataFolder::Stop() {
  images_.Stop();
  if (log_ != nullptr) {
    log_->Stop();
  }
}

DataStatistics DataFolder::Statistics() const {
  return {.log = log_->Statistics(), .images = images_.GetStatistics()};
}

}  // namespace waystar::storage
