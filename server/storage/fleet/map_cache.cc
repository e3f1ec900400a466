#include "server/storage/fleet/map_cache.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/storage/folder/commit_fields.h"
#include "server/storage/folder/commit_log.h"
#include "server/storage/folder/record_file.h"

namespace waystar::cluster {
namespace {

constexpr absl::string_view kListName = "fleet";
constexpr std::uint64_t kListFormat = 1;
constexpr std::size_t kMapsAtATime = 1000;
// A round is followed by a pause this many times as long.
constexpr int kRest = 9;
constexpr std::size_t kMaxPrefixBytes = 4096;

struct ListedImage {
  std::string map;
  core::MapVersion version;
};

void Fields(core::Is<ListedImage> auto& image, const auto& visit) {
  visit(core::MapIdField(image.map), image.version);
}

// List of images, as stored. In another format, only `format` is read.
struct List {
  std::uint64_t format = kListFormat;
  std::string prefix;
  absl::Time known_at;
  std::vector<ListedImage> images;
};

void Fields(core::Is<List> auto& list, const auto& visit) {
  visit(list.format);
  if (list.format == kListFormat) {
    visit(core::AtMost(list.prefix, kMaxPrefixBytes), list.known_at, list.images);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<MapCache>> MapCache::Open(std::unique_ptr<storage::Folder> folder,
                                                         absl::string_view prefix) {
  auto cache = std::unique_ptr<MapCache>(new MapCache(std::move(folder), prefix));
  WAYSTAR_RETURN_IF_ERROR(cache->ReadList());
  return cache;
}

absl::Status MapCache::ReadList() {
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<std::string> names, folder_->List());
  bool has_list = false;
  for (const std::string& name : names) {
    has_list |= name == kListName;
    if (storage::LogFileNumber(name)) {
      return absl::FailedPreconditionError(absl::StrCat(folder_->PathOf(""),
                                                        " holds the maps of a server that is in no fleet (",
                                                        name, "): --cluster needs another --data_dir"));
    }
  }
  if (!has_list) {
    return absl::OkStatus();
  }
  WAYSTAR_ASSIGN_OR_RETURN(const std::string bytes, folder_->Read(kListName));
  const std::optional<absl::string_view> values = storage::WithoutChecksum(bytes);
  if (!values) {
    return absl::OkStatus();
  }
  core::ValueReader from(*values);
  const auto list = core::ReadValue<List>(from);
  if (list.format != kListFormat) {
    return absl::FailedPreconditionError(absl::StrCat(folder_->PathOf(kListName), " is of version ",
                                                      list.format, ", which this program does not know"));
  }
  if (list.prefix != prefix_) {
    return absl::FailedPreconditionError(absl::StrCat(folder_->PathOf(kListName),
                                                      " is of the fleet with the keys \"", list.prefix,
                                                      "\", and not \"", prefix_, "\""));
  }
  if (!from.Finish().ok()) {
    return absl::OkStatus();
  }
  MutexLock lock(mutex_);
  for (const ListedImage& image : list.images) {
    images_[image.map] = image.version;
  }
  known_at_ = list.known_at;
  return absl::OkStatus();
}

MapCache::Images MapCache::images() const {
  MutexLock lock(mutex_);
  return images_;
}

absl::Time MapCache::known_at() const {
  MutexLock lock(mutex_);
  return known_at_;
}

std::optional<core::MapVersion> MapCache::VersionOf(absl::string_view id) const {
  MutexLock lock(mutex_);
  const auto image = images_.find(id);
  return image == images_.end() ? std::nullopt : std::optional(image->second);
}

absl::StatusOr<storage::MapState> MapCache::Read(absl::string_view id) {
  const std::optional<core::MapVersion> version = VersionOf(id);
  if (!version) {
    return absl::NotFoundError(absl::StrCat("there is no image of map \"", id, "\""));
  }
  const storage::ImageName name{.map = std::string(id), .version = *version};
  const std::string file = storage::ImageFileName(name);
  absl::StatusOr<storage::MapState> map = [&]() -> absl::StatusOr<storage::MapState> {
    WAYSTAR_ASSIGN_OR_RETURN(const std::string bytes, folder_->Read(file));
    return storage::ReadImageFile(name, folder_->PathOf(file), bytes);
  }();
  if (!map.ok()) {
    MutexLock lock(mutex_);
    if (const auto image = images_.find(id); image != images_.end() && image->second == *version) {
      images_.erase(image);
    }
  }
  return map;
}

void MapCache::Start(const core::MapStore& store, std::function<absl::Time()> known_at, Options options) {
  const absl::Duration interval = options.interval;
  thread_.Start("map-cache", interval,
                [this, &store, known_at = std::move(known_at), options = std::move(options)] {
                  RefreshInTurn(store, known_at(), options);
                });
}

void MapCache::RefreshInTurn(const core::MapStore& store, absl::Time known_at, const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  if (begin < rests_until_) {
    return;
  }
  const absl::Status status = Refresh(store, known_at);
  const auto end = std::chrono::steady_clock::now();
  rests_until_ = end + kRest * (end - begin);
  if (status.ok() == has_failed_ && options.on_status) {
    options.on_status(status);
  }
  has_failed_ = !status.ok();
}

absl::StatusOr<std::optional<core::MapVersion>> MapCache::Keep(const core::MapStore& store,
                                                               const core::MapStore::ListedMap& map) {
  const std::optional<core::MapVersion> image = VersionOf(map.id);
  if (image == map.version) {
    return image;
  }
  if (map.snapshot == nullptr) {
    return std::nullopt;
  }
  const absl::StatusOr<core::StoredMap> stored = store.Store(map.id);
  if (!stored.ok()) {
    // The map was deleted or unloaded meanwhile.
    return std::nullopt;
  }
  const absl::StatusOr<std::uint64_t> written =
      storage::WriteImageFile(*stored, *folder_, [] { return absl::OkStatus(); });
  if (!written.ok()) {
    return written.status();
  }
  return stored->snapshot->version();
}

absl::Status MapCache::Refresh(const core::MapStore& store, absl::Time known_at) {
  List list{.prefix = prefix_, .known_at = known_at};
  Images images;
  std::string after;
  while (true) {
    const std::vector<core::MapStore::ListedMap> maps = store.ListAll(after, kMapsAtATime);
    for (const core::MapStore::ListedMap& map : maps) {
      WAYSTAR_ASSIGN_OR_RETURN(const std::optional<core::MapVersion> image, Keep(store, map));
      if (image) {
        images[map.id] = *image;
        list.images.push_back({.map = map.id, .version = *image});
      }
    }
    if (maps.size() < kMapsAtATime) {
      break;
    }
    after = maps.back().id;
  }
  WAYSTAR_RETURN_IF_ERROR(folder_->SyncNames());
  WAYSTAR_RETURN_IF_ERROR(
      storage::WriteWholeFile(*folder_, kListName, storage::WithChecksum(core::Encoded(list))));
  WAYSTAR_RETURN_IF_ERROR(folder_->SyncNames());
  {
    MutexLock lock(mutex_);
    images_ = images;
    known_at_ = known_at;
  }
  return RemoveOthers(images);
}

absl::Status MapCache::RemoveOthers(const Images& images) {
  std::set<std::string> needed;
  for (const auto& [id, version] : images) {
    needed.insert(storage::ImageFileName({.map = id, .version = version}));
  }
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<std::string> names, folder_->List());
  for (const std::string& name : names) {
    const bool is_image = storage::ParseImageFileName(name).has_value();
    if ((is_image && !needed.contains(name)) || storage::IsTemporary(name)) {
      WAYSTAR_RETURN_IF_ERROR(folder_->Remove(name));
    }
  }
  return absl::OkStatus();
}

}  // namespace waystar::cluster
