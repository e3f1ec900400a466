#include "server/storage/folder/live_maps.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace waystar::storage {
namespace {

absl::Status DoesNotFollow(const LogEntry& entry, const LiveMap* map) {
  return absl::FailedPreconditionError(
      map == nullptr ? absl::StrCat("there is no map \"", entry.map, "\" of epoch ", entry.epoch)
                     : absl::StrCat("map \"", entry.map, "\" is of epoch ", map->epoch, " at revision ",
                                    map->revision, ", and revision ", entry.revision, " of epoch ",
                                    entry.epoch, " does not follow that"));
}

}  // namespace

LiveMaps::LiveMaps(const LogStart& start) {
  for (const LiveMap& map : start.maps) {
    maps_.emplace(map.id, map);
  }
}

absl::StatusOr<LiveMaps::Before> LiveMaps::Follow(const LogEntry& entry) {
  const LiveMap* const map = Find(entry.map);
  Before before{.id = entry.map};
  if (map != nullptr) {
    before.map = *map;
  }
  const bool is_of_map = map != nullptr && map->epoch == entry.epoch;
  switch (entry.kind) {
    case LogEntry::Kind::kCreation:
      if (map != nullptr) {
        return DoesNotFollow(entry, map);
      }
      maps_[entry.map] = {.id = entry.map, .epoch = entry.epoch, .revision = entry.revision};
      return before;
    case LogEntry::Kind::kCommits:
      if (!is_of_map || entry.first_revision != map->revision + 1 || entry.revision < entry.first_revision) {
        return DoesNotFollow(entry, map);
      }
      maps_[entry.map].revision = entry.revision;
      return before;
    case LogEntry::Kind::kDeletion:
      if (!is_of_map || entry.revision != map->revision) {
        return DoesNotFollow(entry, map);
      }
      maps_.erase(entry.map);
      return before;
    case LogEntry::Kind::kReplacement:
      if (map == nullptr || map->epoch != entry.replaced.epoch || map->revision != entry.replaced.revision ||
          is_of_map) {
        return DoesNotFollow(entry, map);
      }
      maps_[entry.map] = {.id = entry.map, .epoch = entry.epoch, .revision = entry.revision};
      return before;
  }
  return DoesNotFollow(entry, map);
}

void LiveMaps::TakeBack(Before before) {
  if (before.map) {
    maps_[before.id] = *std::move(before.map);
  } else {
    maps_.erase(before.id);
  }
}

const LiveMap* LiveMaps::Find(absl::string_view id) const {
  const auto it = maps_.find(id);
  return it == maps_.end() ? nullptr : &it->second;
}

std::vector<LiveMap> LiveMaps::All() const {
  std::vector<LiveMap> all;
  for (const auto& [id, map] : maps_) {
    all.push_back(map);
  }
  return all;
}

}  // namespace waystar::storage
