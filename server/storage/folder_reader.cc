#include "server/storage/folder_reader.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "server/base/mutex.h"
#include "server/base/status_macros.h"
#include "server/base/thread.h"
#include "server/storage/commit_log.h"
#include "server/storage/log_history.h"
#include "server/storage/map_reader.h"
#include "server/storage/record_file.h"

namespace waystar::storage {
namespace {

// Reads the maps of a folder into a store.
class MapReader {
 public:
  MapReader(const Folder& folder, const ReadOptions& options, const LogHistory& history,
            core::MapStore& store, FolderContents& contents)
      : folder_(folder), options_(options), history_(history), store_(store), contents_(contents) {}

  // Returns the newest images of maps.
  absl::Status Read(const ImagesByMap& images) {
    const std::vector<LiveMap>& maps = history_.next.maps;
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
    for (std::size_t i = 0; i < maps.size(); ++i) {
      if (statuses[i].ok()) {
        continue;
      }
      if (statuses[i].code() != absl::StatusCode::kDataLoss || !options_.skip_damaged_maps) {
        return statuses[i];
      }
      contents_.found.damaged.push_back(std::move(statuses[i]));
      contents_.files.damaged_maps.insert(maps[i].id);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status ReadOne(const LiveMap& map, const ImagesByMap& images) {
    WAYSTAR_ASSIGN_OR_RETURN(ReadMapResult result, ReadMap(folder_, history_, images, map));
    MapState& state = result.state;
    WAYSTAR_RETURN_IF_ERROR(store_.Restore(std::move(state.snapshot), std::move(state.requests),  //
                                           state.request_horizon));
    MutexLock lock(mutex_);
    ++contents_.found.maps;
    contents_.found.commits += result.commits;
    if (result.image_bytes > 0) {
      contents_.files.images[map.id] = {.name = images.at(map.id), .bytes = result.image_bytes};
    }
    return absl::OkStatus();
  }

  void TellProgress(std::size_t done, std::size_t total) {
    if (options_.on_progress && !options_.on_progress(done, total)) {
      is_cancelled_ = true;
    }
  }

  const Folder& folder_;
  const ReadOptions& options_;
  const LogHistory& history_;
  core::MapStore& store_;
  Mutex mutex_;
  std::size_t done_ ABSL_GUARDED_BY(mutex_) = 0;
  std::atomic<bool> is_cancelled_ = false;
  FolderContents& contents_;
};

// Returns the files that are not needed, of those that this server has made.
std::vector<std::string> LeftOvers(const std::vector<std::string>& names, const KnownFiles& files) {
  std::vector<std::string> left_overs;
  for (const std::string& name : names) {
    bool is_left_over = IsTemporary(name);
    if (const std::optional<ImageName> image = ParseImageFileName(name)) {
      const auto it = files.images.find(image->map);
      is_left_over = it == files.images.end() || ImageFileName(it->second.name) != name;
    } else if (LogFileNumber(name)) {
      is_left_over = std::ranges::none_of(files.logs, [&](const KnownFile& log) { return log.name == name; });
    }
    if (is_left_over) {
      left_overs.push_back(name);
    }
  }
  return left_overs;
}

}  // namespace

absl::StatusOr<FolderContents> ReadFolder(const Folder& folder, core::MapStore& store,
                                          const ReadOptions& options) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<std::string> names, folder.List());
  WAYSTAR_ASSIGN_OR_RETURN(const LogHistory history, ReadLogFiles(folder, names));
  FolderContents contents;
  MapReader reader(folder, options, history, store, contents);
  WAYSTAR_RETURN_IF_ERROR(reader.Read(NewestImages(names, history.next.maps)));
  for (const LogFile& file : history.files) {
    contents.files.logs.push_back({.name = LogFileName(file.number), .bytes = file.bytes.size()});
  }
  contents.found.torn_bytes = history.torn_bytes;
  contents.next = history.next;
  contents.left_overs = LeftOvers(names, contents.files);
  return contents;
}

}  // namespace waystar::storage
