// Loading and unloading of maps.

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/core/edit/edit_work.h"
#include "server/core/store/map_record.h"
#include "server/core/store/map_store.h"

namespace waystar::core {

void MapStore::AddUnloaded(absl::string_view id, MapVersion last) {
  MutexLock lock(context_.readers);
  absent_.insert_or_assign(std::string(id), AbsentMap{.last = last});
}

bool MapStore::IsNearlyFull() const {
  const MemoryAccount& memory = *context_.memory;
  return memory.taken() > memory.max_bytes() / 4 * 3;
}

std::vector<std::string> MapStore::LeastRecentlyUsed() const {
  std::vector<std::pair<std::uint64_t, std::string>> uses;
  {
    MutexLock lock(context_.readers);
    uses.reserve(records_.size());
    for (const auto& [id, record] : records_) {
      uses.emplace_back(record->last_use(), id);
    }
  }
  std::ranges::sort(uses);
  std::vector<std::string> ids;
  ids.reserve(uses.size());
  for (auto& [use, id] : uses) {
    ids.push_back(std::move(id));
  }
  return ids;
}

bool MapStore::IsNeeded(const MapSnapshot& latest) const {
  return std::ranges::any_of(context_.listeners,
                             [&](const StoreListener* listener) { return listener->Needs(latest); });
}

bool MapStore::CanUnload(absl::string_view id) const {
  const RecordPtr record = FindOrNull(id);
  const PinnedSnapshot latest = LatestOrNull(id);
  return record != nullptr && latest != nullptr && record->NextExpiry() == absl::InfiniteFuture() &&
         !IsNeeded(*latest);
}

bool MapStore::Unload(absl::string_view id, MapVersion stored) {
  const RecordPtr record = FindOrNull(id);
  if (record == nullptr || !CanUnload(id)) {
    return false;
  }
  const PinnedSnapshot last = record->Unload(stored, [&] {
    MutexLock lock(context_.readers);
    by_id_.erase(record->id());
    records_.erase(record->id());
    absent_.emplace(record->id(), AbsentMap{.last = stored});
  });
  if (last == nullptr) {
    return false;
  }
  NoteOld(last);
  if (IsNeeded(*last)) {
    // A listener has begun to need the map since CanUnload.
    context_.residence->LoadSoon(id);
  }
  return true;
}

absl::StatusOr<MapVersion> MapStore::LatestVersion(absl::string_view id) const {
  MutexLock lock(context_.readers);
  if (const auto it = by_id_.find(id); it != by_id_.end()) {
    if (const PinnedSnapshot latest = it->second->Latest(); latest != nullptr) {
      return latest->version();
    }
  }
  return AbsenceOf(id);
}

std::optional<MapVersion> MapStore::UnloadedVersion(absl::string_view id) const {
  MutexLock lock(context_.readers);
  const auto it = absent_.find(id);
  return it == absent_.end() || it->second.is_damaged ? std::nullopt : std::optional(it->second.last);
}

void MapStore::NoteDamage(absl::string_view id, MapVersion version) {
  MutexLock lock(context_.readers);
  if (const auto it = absent_.find(id); it != absent_.end() && it->second.last == version) {
    it->second.is_damaged = true;
  }
}

absl::Status MapStore::Load(MapState state) {
  MemoryAccount::Reservation memory;
  WAYSTAR_ASSIGN_OR_RETURN(const RecordPtr record, MakeRecord(std::move(state), memory));
  const PinnedSnapshot first = record->PinLatest();
  bool is_loaded = false;
  // Listeners must learn of the load before any other event of the map.
  record->HoldCommits([&] {
    {
      MutexLock lock(context_.readers);
      const auto it = absent_.find(first->id);
      if (it == absent_.end() || it->second.is_damaged || it->second.is_ending ||
          it->second.last != first->version()) {
        return;
      }
      absent_.erase(it);
      record->NoteUse(++uses_);
      records_.emplace(record->id(), record);
      by_id_.emplace(record->id(), record.get());
    }
    is_loaded = true;
    for (StoreListener* const listener : context_.listeners) {
      listener->OnLoad(first);
    }
  });
  if (!is_loaded) {
    return absl::FailedPreconditionError(
        absl::StrCat("map \"", first->id, "\" is not to be loaded at revision ", first->revision));
  }
  memory.Keep();
  TellOfExpiry(*record);
  return absl::OkStatus();
}

MapStore::ResidenceCounts MapStore::CountResidence() const {
  MutexLock lock(context_.readers);
  return {.loaded = records_.size(),
          .unloaded = static_cast<std::size_t>(
              std::ranges::count_if(absent_, [](const auto& entry) { return !entry.second.is_damaged; })),
          .hits = uses_};
}

std::vector<MapStore::ListedMap> MapStore::ListAll(absl::string_view after, std::size_t limit) const {
  std::vector<ListedMap> maps;
  MutexLock lock(context_.readers);
  auto loaded = records_.upper_bound(after);
  auto absent = absent_.upper_bound(after);
  while (maps.size() < limit && (loaded != records_.end() || absent != absent_.end())) {
    if (absent == absent_.end() || (loaded != records_.end() && loaded->first < absent->first)) {
      if (PinnedSnapshot latest = loaded->second->Latest(); latest != nullptr) {
        maps.push_back({.id = latest->id, .version = latest->version(), .snapshot = latest});
      }
      ++loaded;
    } else {
      if (!absent->second.is_damaged) {
        maps.push_back({.id = absent->first, .version = absent->second.last, .snapshot = nullptr});
      }
      ++absent;
    }
  }
  return maps;
}

}  // namespace waystar::core
