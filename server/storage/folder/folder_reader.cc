#include "server/storage/folder/folder_reader.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/base/mutex.h"
#include "server/base/random_id.h"
#include "server/base/thread.h"
#include "server/core/store/map_editor.h"
#include "server/storage/folder/record_file.h"

namespace waystar::storage {
namespace {

// Applies and counts the commits that the state does not contain yet.
absl::Status Replay(const LogHistory& history, absl::Span<const LocatedEntry> entries,
                    ReadMapResult& result) {
  core::MapReplay replay(result.state);
  for (const LocatedEntry& located : entries) {
    const LogEntry& entry = located.entry;
    if (entry.kind != LogEntry::Kind::kCommits || entry.revision <= result.state.snapshot.revision) {
      continue;
    }
    const LogFile& file = history.files[located.file];
    const absl::StatusOr<std::vector<core::LoggedCommit>> commits = DecodeCommits(entry.body);
    if (!commits.ok()) {
      return Damage(file.path, located.offset, commits.status().message());
    }
    for (const core::LoggedCommit& commit : *commits) {
      const absl::StatusOr<std::optional<core::ChangeSummary>> applied = replay.Apply(commit);
      if (!applied.ok()) {
        return Damage(file.path, located.offset,
                      absl::StrCat("map \"", result.state.snapshot.id, "\": ", applied.status().message()));
      }
      if (*applied) {
        ++result.commits;
        result.work += WorkOfCommit(**applied);
      }
    }
  }
  replay.Finish();
  return absl::OkStatus();
}

absl::StatusOr<MapState> ReadCreation(const LogHistory& history, const LocatedEntry& creation) {
  const LogFile& file = history.files[creation.file];
  const absl::StatusOr<Creation> decoded = DecodeCreation(creation.entry);
  if (!decoded.ok()) {
    return Damage(file.path, creation.offset, decoded.status().message());
  }
  WAYSTAR_ASSIGN_OR_RETURN(core::MapSnapshot image, ReadImage(decoded->image, file.path, creation.offset));
  MapState state{.snapshot = std::move(image)};
  state.snapshot.id = creation.entry.map;
  state.snapshot.epoch = creation.entry.epoch;
  state.snapshot.revision = creation.entry.revision;
  state.snapshot.create_time = decoded->create_time;
  if (!decoded->request.request_id.empty()) {
    state.requests.push_back(core::RequestOf(state.snapshot, decoded->request));
  }
  return state;
}

// Reads the image of a map, or else its creation.
absl::StatusOr<ReadMapResult> ReadBase(const Folder& folder, const LogHistory& history,
                                       const ImagesByMap& images, const std::string& map,
                                       absl::Span<const LocatedEntry> told) {
  if (const auto image = images.find(map); image != images.end()) {
    const std::string name = ImageFileName(image->second);
    WAYSTAR_ASSIGN_OR_RETURN(const std::string bytes, folder.Read(name));
    WAYSTAR_ASSIGN_OR_RETURN(MapState state, ReadImageFile(image->second, folder.PathOf(name), bytes));
    return ReadMapResult{.state = std::move(state), .image_bytes = bytes.size()};
  }
  if (!told.empty() && BeginsMap(told.front().entry)) {
    WAYSTAR_ASSIGN_OR_RETURN(MapState state, ReadCreation(history, told.front()));
    return ReadMapResult{.state = std::move(state)};
  }
  return absl::DataLossError(absl::StrCat("there is no image of map \"", map, "\""));
}

core::MapVersion VersionOf(const LiveMap& map) { return {.epoch = map.epoch, .revision = map.revision}; }

// Loads the maps of a folder into a store, on several threads.
class MapReader {
 public:
  MapReader(Folder& folder, const ReadOptions& options, const LogHistory& history, core::MapStore& store,
            FolderContents& contents)
      : folder_(folder), options_(options), history_(history), store_(store), contents_(contents) {}

  // Loads all maps. `images` are their newest images.
  absl::Status Read(const ImagesByMap& images) {
    const std::vector<LiveMap>& maps = contents_.next.maps;
    std::vector<absl::Status> statuses(maps.size());
    std::atomic<std::size_t> next = 0;
    TellProgress(0, maps.size());
    const auto read = [&] {
      for (std::size_t i = next++; i < maps.size() && !is_cancelled_; i = next++) {
        statuses[i] = ReadOne(maps[i], images);
        MutexLock lock(mutex_);
        TellProgress(++done_, maps.size());
      }
    };
    std::vector<std::thread> threads;
    for (int i = 1; i < options_.threads; ++i) {
      threads.push_back(StartThread("map-reader", read));
    }
    read();
    for (std::thread& thread : threads) {
      thread.join();
    }
    if (is_cancelled_) {
      return absl::CancelledError("maps are not read any more");
    }
    if (!contents_.logs.empty()) {
      // The work is counted for the last file: it disappears when that file is removed.
      MutexLock lock(mutex_);
      contents_.logs.back().work = work_;
    }
    for (std::size_t i = 0; i < maps.size(); ++i) {
      if (statuses[i].ok()) {
        continue;
      }
      if (statuses[i].code() != absl::StatusCode::kDataLoss || !options_.skip_damaged_maps) {
        return statuses[i];
      }
      contents_.found.damaged.push_back(std::move(statuses[i]));
      WAYSTAR_RETURN_IF_ERROR(NoteDamaged(maps[i], images));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status ReadOne(const LiveMap& map, const ImagesByMap& images) {
    if (const auto image = images.find(map.id); image != images.end() &&
                                                image->second.version == VersionOf(map) &&
                                                options_.may_unload && store_.IsNearlyFull()) {
      return LeaveUnread(map, image->second);
    }
    WAYSTAR_ASSIGN_OR_RETURN(ReadMapResult result, ReadMap(folder_, history_, images, map));
    if (result.image_bytes > 0) {
      WAYSTAR_RETURN_IF_ERROR(folder_.Secure(ImageFileName(images.at(map.id)), result.image_bytes));
    }
    MapState& state = result.state;
    const absl::Time latest_time = state.snapshot.latest_time();
    // A copy shares the map's memory.
    std::optional<MapState> kept;
    if (options_.may_unload) {
      kept.emplace(state);
    }
    const absl::Status restored = store_.Restore(std::move(state));
    const bool is_unloaded = kept && core::HasNoRoom(restored);
    std::uint64_t image_bytes = 0;
    if (is_unloaded) {
      WAYSTAR_ASSIGN_OR_RETURN(image_bytes, LeaveUnloaded(map, *std::move(kept)));
    } else {
      WAYSTAR_RETURN_IF_ERROR(restored);
    }
    MutexLock lock(mutex_);
    ++(is_unloaded ? contents_.found.unloaded : contents_.found.maps);
    contents_.found.commits += result.commits;
    work_ += result.work;
    contents_.found.latest_time = std::max(contents_.found.latest_time, latest_time);
    if (is_unloaded) {
      if (result.image_bytes > 0) {
        contents_.left_overs.push_back(ImageFileName(images.at(map.id)));
      }
      contents_.files.images[map.id] = {.name = {.map = map.id, .version = VersionOf(map)},
                                        .bytes = image_bytes};
    } else if (result.image_bytes > 0) {
      contents_.files.images[map.id] = {.name = images.at(map.id), .bytes = result.image_bytes};
    }
    return absl::OkStatus();
  }

  // Leaves a map unloaded without reading it.
  // REQUIRES: `image` has the map's latest version.
  absl::Status LeaveUnread(const LiveMap& map, const ImageName& image) {
    const std::string file = ImageFileName(image);
    WAYSTAR_ASSIGN_OR_RETURN(const std::uint64_t bytes, folder_.Size(file));
    WAYSTAR_RETURN_IF_ERROR(folder_.Secure(file, bytes));
    store_.AddUnloaded(map.id, VersionOf(map));
    MutexLock lock(mutex_);
    ++contents_.found.unloaded;
    contents_.files.images[map.id] = {.name = image, .bytes = bytes};
    return absl::OkStatus();
  }

  // Leaves a map unloaded, and returns the size of its new image, which replaces an older one.
  absl::StatusOr<std::uint64_t> LeaveUnloaded(const LiveMap& map, MapState state) {
    const core::StoredMap stored = core::Shared(std::move(state));
    // The log is already synced.
    WAYSTAR_ASSIGN_OR_RETURN(const std::uint64_t bytes,
                             WriteImageFile(stored, folder_, [] { return absl::OkStatus(); }));
    WAYSTAR_RETURN_IF_ERROR(folder_.SyncNames());
    store_.AddUnloaded(map.id, VersionOf(map));
    return bytes;
  }

  absl::Status NoteDamaged(const LiveMap& map, const ImagesByMap& images) {
    store_.AddDamaged(map.id, {.epoch = map.epoch, .revision = map.revision});
    contents_.files.damaged_epochs.insert(map.epoch);
    std::vector<std::string>& kept = contents_.found.kept;
    if (const auto image = images.find(map.id); image != images.end()) {
      const std::string name = ImageFileName(image->second);
      WAYSTAR_ASSIGN_OR_RETURN(const std::string bytes, folder_.Read(name));
      contents_.files.images[map.id] = {.name = image->second, .bytes = bytes.size()};
      kept.push_back(name);
    }
    if (const auto entries = history_.entries.find(map.id); entries != history_.entries.end()) {
      for (std::size_t file = entries->second.front().file; file <= entries->second.back().file; ++file) {
        const std::string name = LogFileName(history_.files[file].number);
        if (std::ranges::find(kept, name) == kept.end()) {
          kept.push_back(name);
        }
      }
    }
    return absl::OkStatus();
  }

  void TellProgress(std::size_t done, std::size_t total) {
    if (options_.on_progress && !options_.on_progress(done, total)) {
      is_cancelled_ = true;
    }
  }

  Folder& folder_;
  const ReadOptions& options_;
  const LogHistory& history_;
  core::MapStore& store_;
  Mutex mutex_;
  std::size_t done_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t work_ ABSL_GUARDED_BY(mutex_) = 0;
  std::atomic<bool> is_cancelled_ = false;
  FolderContents& contents_;
};

// Syncs the folder's names and the log files, and lists the log files in `contents`.
absl::Status SecureLog(Folder& folder, const LogHistory& history, FolderContents& contents) {
  WAYSTAR_RETURN_IF_ERROR(folder.SyncNames());
  for (const LogFile& file : history.files) {
    const bool is_last = &file == &history.files.back();
    WAYSTAR_RETURN_IF_ERROR(
        folder.Secure(LogFileName(file.number), is_last ? history.synced : file.bytes.size()));
    contents.logs.push_back({.number = file.number, .bytes = file.bytes.size()});
  }
  return absl::OkStatus();
}

}  // namespace

ImagesByMap NewestImages(const std::vector<std::string>& names, const LogHistory& history) {
  ImagesByMap newest;
  for (const std::string& name : names) {
    const std::optional<ImageName> image = ParseImageFileName(name);
    const auto epochs = image ? history.epochs.find(image->map) : history.epochs.end();
    if (epochs == history.epochs.end() || !IsKnown(image->version, epochs->second)) {
      continue;
    }
    // All known epochs belong to this map, so the largest revision is the newest.
    ImageName& best = newest[image->map];
    if (best.map.empty() || best.version.revision < image->version.revision) {
      best = *image;
    }
  }
  return newest;
}

absl::StatusOr<ReadMapResult> ReadMap(const Folder& folder, const LogHistory& history,
                                      const ImagesByMap& images, const LiveMap& map) {
  const auto entries = history.entries.find(map.id);
  const absl::Span<const LocatedEntry> none;
  const absl::Span<const LocatedEntry> told =
      entries == history.entries.end() ? none : absl::MakeConstSpan(entries->second);
  WAYSTAR_ASSIGN_OR_RETURN(ReadMapResult result, ReadBase(folder, history, images, map.id, told));
  WAYSTAR_RETURN_IF_ERROR(Replay(history, told, result));
  if (result.state.snapshot.revision != map.revision) {
    return absl::DataLossError(absl::StrCat("map \"", map.id, "\" was at revision ", map.revision,
                                            ", and there is only revision ", result.state.snapshot.revision));
  }
  result.state.snapshot.epoch = map.epoch;
  for (core::AppliedRequest& request : result.state.requests) {
    request.result.epoch = map.epoch;
  }
  return result;
}

absl::StatusOr<std::string> CheckMark(const Folder& folder, const LogHistory& history,
                                      const std::vector<std::string>& names) {
  if (!std::ranges::binary_search(names, kMarkName)) {
    return history.files.empty() ? "" : absl::StrCat("there is no ", folder.PathOf(kMarkName));
  }
  WAYSTAR_ASSIGN_OR_RETURN(const std::string bytes, folder.Read(kMarkName));
  const std::optional<LogMark> mark = DecodeMark(bytes);
  if (!mark) {
    return history.files.empty() ? "" : absl::StrCat(folder.PathOf(kMarkName), " is damaged");
  }
  const std::uint64_t last = history.files.empty() ? 0 : history.files.back().number;
  const bool is_same_run = !mark->run.empty() && mark->run == folder.SystemRun();
  const bool may_lose = mark->is_relaxed && !mark->is_ended && !is_same_run;
  if (!may_lose && (mark->file > last || (mark->file == last && mark->end > history.end))) {
    return absl::DataLossError(
        absl::StrCat("the end of the log is missing: ", folder.PathOf(kMarkName), " says that ",
                     LogFileName(mark->file), " had ", mark->end, " bytes, and ",
                     last == 0 ? "there is no file of the log"
                               : absl::StrCat(LogFileName(last), " ends the log at byte ", history.end)));
  }
  return may_lose ? "the machine has lost power, or was restarted, with --durability=relaxed" : "";
}

absl::StatusOr<FolderContents> ReadFolder(Folder& folder, core::MapStore& store, const ReadOptions& options) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<std::string> names, folder.List());
  WAYSTAR_ASSIGN_OR_RETURN(const LogHistory history, ReadLogFiles(folder, names));
  FolderContents contents;
  contents.next = history.next;
  WAYSTAR_ASSIGN_OR_RETURN(contents.found.new_epochs, CheckMark(folder, history, names));
  if (!contents.found.new_epochs.empty()) {
    for (LiveMap& map : contents.next.maps) {
      map.epoch = RandomId();
    }
  }
  WAYSTAR_RETURN_IF_ERROR(SecureLog(folder, history, contents));
  MapReader reader(folder, options, history, store, contents);
  const ImagesByMap images = NewestImages(names, history);
  WAYSTAR_RETURN_IF_ERROR(reader.Read(images));
  contents.found.torn_bytes = history.torn_bytes;
  OtherFiles others = FindOtherFiles(names, history, images);
  contents.found.unknown_images = std::move(others.unknown_images);
  std::ranges::move(others.left_overs, std::back_inserter(contents.left_overs));
  return contents;
}

namespace {

constexpr absl::string_view kSuffix = ".kept";

bool IsDataFile(absl::string_view name) { return LogFileNumber(name) || ParseImageFileName(name); }

bool IsKept(absl::string_view name) {
  const absl::string_view original = OriginalOfKept(name);
  return original != name && IsDataFile(original);
}

bool IsUnfinished(absl::string_view name) {
  const absl::string_view whole = NameOfTemporary(name);
  return IsTemporary(name) && (IsDataFile(whole) || IsKept(whole));
}

bool IsNeeded(std::uint64_t log, const LogHistory& history) {
  return std::ranges::any_of(history.files, [&](const LogFile& file) { return file.number == log; });
}

// Returns true if a newer image or the log makes this image obsolete, or if its map was deleted.
bool IsReplaced(const ImageName& image, const LogHistory& history, const ImagesByMap& images) {
  return history.ended_epochs.contains(image.version.epoch) ||
         (images.contains(image.map) && IsKnown(image.version, history.epochs.at(image.map)));
}

}  // namespace

std::string KeptName(absl::string_view name) { return absl::StrCat(name, kSuffix); }

absl::string_view OriginalOfKept(absl::string_view name) { return absl::StripSuffix(name, kSuffix); }

absl::Status KeepFiles(Folder& folder, const std::vector<std::string>& names) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<std::string> there, folder.List());
  for (const std::string& name : names) {
    if (!std::ranges::binary_search(there, KeptName(name))) {
      WAYSTAR_ASSIGN_OR_RETURN(const std::string bytes, folder.Read(name));
      WAYSTAR_RETURN_IF_ERROR(WriteWholeFile(folder, KeptName(name), bytes));
    }
  }
  return names.empty() ? absl::OkStatus() : folder.SyncNames();
}

OtherFiles FindOtherFiles(const std::vector<std::string>& names, const LogHistory& history,
                          const ImagesByMap& images) {
  OtherFiles files;
  for (const std::string& name : names) {
    if (const std::optional<ImageName> image = ParseImageFileName(name)) {
      const auto used = images.find(image->map);
      if (used == images.end() || ImageFileName(used->second) != name) {
        (IsReplaced(*image, history, images) ? files.left_overs : files.unknown_images).push_back(name);
      }
    } else if (const std::optional<std::uint64_t> log = LogFileNumber(name)) {
      if (!IsNeeded(*log, history)) {
        files.left_overs.push_back(name);
      }
    } else if (IsUnfinished(name)) {
      files.left_overs.push_back(name);
    } else if (IsKept(name)) {
      files.kept.push_back(name);
    } else if (name != kMarkName) {
      files.strangers.push_back(name);
    }
  }
  return files;
}

}  // namespace waystar::storage
