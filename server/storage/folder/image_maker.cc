#include "server/storage/folder/image_maker.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"

namespace waystar::storage {
namespace {

// Delay before a round is resumed while the store catches up with the log.
constexpr absl::Duration kCatchUpInterval = absl::Milliseconds(10);

}  // namespace

ImageMaker::ImageMaker(Folder& folder, const core::MapStore& store, KnownFiles files,
                       absl::Duration retry_interval)
    : folder_(folder), store_(store), retry_interval_(retry_interval), files_(std::move(files)) {
  NoteFiles();
}

void ImageMaker::Start(CommitLog& log) {
  log_ = &log;
  thread_.Start("image-maker", [this] { Run(); });
}

void ImageMaker::MakeSoon() {
  MutexLock lock(mutex_);
  is_wanted_ = true;
  thread_.Wake();
}

ImageMaker::Statistics ImageMaker::GetStatistics() const {
  MutexLock lock(mutex_);
  return statistics_;
}

void ImageMaker::Run() {
  while (true) {
    {
      MutexLock lock(mutex_);
      while (!is_wanted_ && !thread_.is_stopping()) {
        thread_.Wait(mutex_);
      }
      if (thread_.is_stopping()) {
        return;
      }
      is_wanted_ = false;
    }
    const absl::Status made = Make();
    NoteFiles();
    MutexLock lock(mutex_);
    statistics_.status = absl::IsAborted(made) ? absl::OkStatus() : made;
    if (!made.ok()) {
      is_wanted_ = true;
      const auto retry_at =
          std::chrono::steady_clock::now() +
          absl::ToChronoNanoseconds(absl::IsAborted(made) ? kCatchUpInterval : retry_interval_);
      thread_.SleepUntil(mutex_, retry_at);
    }
  }
}

absl::Status ImageMaker::Make() {
  if (!round_) {
    WAYSTAR_ASSIGN_OR_RETURN(round_, log_->Rotate());
  }
  WAYSTAR_RETURN_IF_ERROR(ForgetMissingImages());
  WAYSTAR_ASSIGN_OR_RETURN(const LogStart now, log_->Sync());
  const LiveMaps live(now);
  bool is_complete = true;
  for (const LiveMap& map : round_->maps) {
    if (thread_.is_stopping()) {
      return absl::OkStatus();
    }
    const LiveMap* const still = live.Find(map.id);
    if (still != nullptr && still->epoch == map.epoch) {
      WAYSTAR_ASSIGN_OR_RETURN(const bool has_image, RequireImage(map));
      is_complete = is_complete && has_image;
    }
  }
  WAYSTAR_RETURN_IF_ERROR(folder_.SyncNames());
  if (!is_complete) {
    return absl::AbortedError("maps are being created, replaced or deleted");
  }
  return RemoveNeedless();
}

absl::Status ImageMaker::ForgetMissingImages() {
  MutexLock lock(files_mutex_);
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<std::string> names, folder_.List());
  absl::erase_if(files_.images, [&](const auto& image) {
    return !std::ranges::binary_search(names, ImageFileName(image.second.name));
  });
  return absl::OkStatus();
}

absl::StatusOr<bool> ImageMaker::RequireImage(const LiveMap& map) {
  MutexLock lock(files_mutex_);
  if (files_.damaged_epochs.contains(map.epoch)) {
    return true;
  }
  if (const auto it = files_.images.find(map.id); it != files_.images.end() &&
                                                  it->second.name.version.epoch == map.epoch &&
                                                  it->second.name.version.revision >= map.revision) {
    return true;
  }
  const absl::StatusOr<core::StoredMap> stored = store_.Store(map.id);
  if (!stored.ok()) {
    // The map was deleted, or its creation is in the log and not yet in the store.
    return false;
  }
  if (stored->snapshot->epoch != map.epoch) {
    // The map's replacement is in the log and not yet in the store, or it was replaced again.
    return false;
  }
  WAYSTAR_RETURN_IF_ERROR(Write(*stored));
  return true;
}

absl::Status ImageMaker::Write(const core::StoredMap& map) {
  const ImageName name{.map = map.snapshot->id, .version = map.snapshot->version()};
  // The log is synced first: an image must not be ahead of the durable log.
  WAYSTAR_ASSIGN_OR_RETURN(const std::uint64_t bytes,
                           WriteImageFile(map, folder_, [&] { return log_->Sync().status(); }));
  KnownImage& image = files_.images[name.map];
  if (!image.name.map.empty()) {
    needless_.push_back(ImageFileName(image.name));
  }
  image = {.name = name, .bytes = bytes};
  return absl::OkStatus();
}

absl::StatusOr<core::MapVersion> ImageMaker::Keep(absl::string_view id) {
  MutexLock lock(files_mutex_);
  WAYSTAR_ASSIGN_OR_RETURN(const core::StoredMap stored, store_.Store(id));
  const core::MapVersion version = stored.snapshot->version();
  if (const auto it = files_.images.find(id);
      it == files_.images.end() || it->second.name.version != version) {
    WAYSTAR_RETURN_IF_ERROR(Write(stored));
    // Sync before the replaced image may be removed.
    WAYSTAR_RETURN_IF_ERROR(folder_.SyncNames());
  }
  return version;
}

absl::StatusOr<MapState> ImageMaker::Read(absl::string_view id, core::MapVersion version) const {
  const ImageName name{.map = std::string(id), .version = version};
  {
    MutexLock lock(files_mutex_);
    const auto it = files_.images.find(id);
    if (it == files_.images.end() || it->second.name.version != version) {
      return absl::FailedPreconditionError(
          absl::StrCat("there is no image of map \"", id, "\" at revision ", version.revision));
    }
  }
  const std::string file = ImageFileName(name);
  WAYSTAR_ASSIGN_OR_RETURN(const std::string bytes, folder_.Read(file));
  return ReadImageFile(name, folder_.PathOf(file), bytes);
}

absl::Status ImageMaker::RemoveNeedless() {
  MutexLock lock(files_mutex_);
  // Maps created since the round began may already have images. After the sync, the log has all of them.
  WAYSTAR_ASSIGN_OR_RETURN(const LogStart now, log_->Sync());
  absl::flat_hash_set<std::string> live;
  for (const std::vector<LiveMap>& maps : {std::cref(round_->maps), std::cref(now.maps)}) {
    for (const LiveMap& map : maps) {
      live.insert(map.id);
    }
  }
  for (auto it = files_.images.begin(); it != files_.images.end();) {
    const auto image = it++;
    if (!live.contains(image->first)) {
      needless_.push_back(ImageFileName(image->second.name));
      files_.images.erase(image);
    }
  }
  for (; !needless_.empty(); needless_.pop_back()) {
    WAYSTAR_RETURN_IF_ERROR(RemoveIfThere(folder_, needless_.back()));
  }
  // The log goes last: it shows which images belong to deleted maps.
  WAYSTAR_RETURN_IF_ERROR(folder_.SyncNames());
  WAYSTAR_RETURN_IF_ERROR(log_->RemoveFilesBefore(round_->number));
  round_.reset();
  if (log_->IsLong()) {
    MakeSoon();
  }
  return absl::OkStatus();
}

void ImageMaker::NoteFiles() {
  Statistics now;
  {
    MutexLock lock(files_mutex_);
    for (const auto& [map, image] : files_.images) {
      ++now.count;
      now.bytes += image.bytes;
    }
  }
  MutexLock lock(mutex_);
  now.status = statistics_.status;
  statistics_ = now;
}

}  // namespace waystar::storage
