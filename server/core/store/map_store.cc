// Loading and unloading of maps.

#include "server/core/store/map_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/thread.h"
#include "server/core/edit/edit_work.h"
#include "server/core/store/map_record.h"

namespace waystar::core {
namespace {

constexpr std::size_t kSparedShare = 16;

}  // namespace

MapStore::MapStore(StoreOptions options)
    : context_{.options = std::move(options),
               .latest_of = [this](absl::string_view id) { return LatestOrNull(id); }} {
  context_.memory->SetHooks(
      {.measure = [this] { return MeasureMemory(); }, .drop = [this](MemoryDrop what) { Drop(what); }});
}

MapStore::MapStore(std::size_t max_maps, std::size_t max_index_bytes)
    : MapStore(StoreOptions{.max_maps = max_maps, .max_index_bytes = max_index_bytes}) {}

// Maps that are still pinned share the account and may outlive the store.
MapStore::~MapStore() { context_.memory->SetHooks({}); }

absl::Status MapStore::WhyRefusing() const {
  return context_.log == nullptr ? absl::OkStatus() : context_.log->WhyRefusing();
}

absl::Status MapStore::CheckCanAdd(absl::string_view id, IfExists if_exists) const {
  WAYSTAR_RETURN_IF_ERROR(CheckMapId(id));
  // A map that ends stays in the table until all listeners know.
  while (const RecordPtr ending = FindEnding(id)) {
    ending->HoldCommits([] {});
  }
  MutexLock lock(context_.readers);
  const auto absent = absent_.find(id);
  if (records_.contains(id) || absent != absent_.end()) {
    const bool is_damaged = absent != absent_.end() && absent->second.is_damaged;
    return if_exists == IfExists::kReplace
               ? absl::OkStatus()
               : MakeError(
                     ErrorReason::kMapExists, "map",
                     absl::StrCat("there is a map \"", id, "\"",
                                  is_damaged ? " that is damaged and could not be read: delete or replace it"
                                             : " already"));
  }
  if (records_.size() + absent_.size() >= context_.options.max_maps) {
    return MakeError(ErrorReason::kTooManyMaps, "",
                     absl::StrCat("the server holds ", context_.options.max_maps, " maps, its limit"));
  }
  return absl::OkStatus();
}

absl::Status MapStore::CheckCanCreate(absl::string_view id) const {
  return CheckCanAdd(id, IfExists::kRefuse);
}

absl::Status MapStore::CheckCanReplace(absl::string_view id) const {
  return CheckCanAdd(id, IfExists::kReplace);
}

absl::Status MapStore::CheckCanDelete(absl::string_view id) const {
  WAYSTAR_RETURN_IF_ERROR(CheckMapId(id));
  MutexLock lock(context_.readers);
  return records_.contains(id) || absent_.contains(id) ? absl::OkStatus() : NoSuchMap(id);
}

void MapStore::Prepare(AnyMap& map, const StopCheck* stop, GridMap::LargeIndexes large_indexes) const {
  GridMap* const grid = std::get_if<GridMap>(&map);
  // A map belongs to the account of the store that has prepared it.
  if (grid != nullptr && grid->memory_account() != context_.memory.get()) {
    grid->Prepare({.max_bytes = context_.options.max_index_bytes, .account = context_.memory}, stop,
                  large_indexes);
  }
}

absl::StatusOr<PinnedSnapshot> MapStore::Create(absl::string_view id, AnyMap map, absl::Time now,
                                                const CreationRequest& request) {
  return Add(id, std::move(map), now, IfExists::kRefuse, request);
}

absl::StatusOr<PinnedSnapshot> MapStore::FindCreated(absl::string_view id,
                                                     const CreationRequest& request) const {
  WAYSTAR_RETURN_IF_ERROR(CheckRequestId(request.request_id));
  const absl::StatusOr<RecordPtr> record = FindRecord(id);
  if (absl::IsNotFound(record.status())) {
    return nullptr;
  }
  WAYSTAR_RETURN_IF_ERROR(record.status());
  return (*record)->FindCreated(request, Now());
}

absl::StatusOr<PinnedSnapshot> MapStore::Replace(absl::string_view id, AnyMap map, absl::Time now) {
  return Add(id, std::move(map), now, IfExists::kReplace);
}

absl::StatusOr<PinnedSnapshot> MapStore::Add(absl::string_view id, AnyMap map, absl::Time now,
                                             IfExists if_exists, const CreationRequest& request) {
  WAYSTAR_RETURN_IF_ERROR(CheckCanAdd(id, if_exists));
  WAYSTAR_RETURN_IF_ERROR(WhyRefusing());
  Prepare(map);
  const auto snapshot = std::make_shared<MapSnapshot>(
      MapSnapshot{.id = std::string(id), .create_time = now, .map = std::move(map)});
  MutexLock creating(creating_);
  WAYSTAR_RETURN_IF_ERROR(CheckCanAdd(snapshot->id, if_exists));
  MemoryAccount::Reservation memory;
  WAYSTAR_RETURN_IF_ERROR(ReserveFor(*snapshot, memory));
  snapshot->epoch = context_.options.new_epoch();
  // Allocated before the append: once the map is in the log, it must not be lost for lack of memory.
  StoredMap first{.snapshot = snapshot};
  if (!request.request_id.empty()) {
    first.requests.push_back(RequestOf(*snapshot, request));
  }
  const auto record = std::make_shared<MapRecord>(context_, std::move(first));
  const auto append = [&](MapVersion last, DurableLog::Done done) {
    context_.log->AppendReplacement(*snapshot, last, std::move(done));
  };
  while (true) {
    bool is_added = false;
    if (if_exists == IfExists::kRefuse || !Exists(snapshot->id)) {
      WAYSTAR_ASSIGN_OR_RETURN(is_added, AddNew(record, *snapshot, request));
    } else if (const RecordPtr old = FindOrNull(snapshot->id); old != nullptr) {
      WAYSTAR_ASSIGN_OR_RETURN(is_added, TakePlace(old, record, *snapshot));
    } else {
      WAYSTAR_ASSIGN_OR_RETURN(const std::optional<MapVersion> absent,
                               EndAbsent(snapshot->id, {}, append, [&] { Insert(record); }));
      is_added = absent.has_value();
    }
    if (is_added) {
      break;
    }
    // Another server has created the map first, or it has ended, or was loaded or unloaded.
    WAYSTAR_RETURN_IF_ERROR(CheckCanAdd(snapshot->id, if_exists));
  }
  memory.Keep();
  return snapshot;
}

absl::Status MapStore::ReserveFor(const MapSnapshot& map, MemoryAccount::Reservation& memory) {
  const std::size_t bytes = map.memory_bytes();
  MemoryAccount& account = *context_.memory;
  // Where maps can be unloaded, keep some memory free for updates and queries.
  const std::size_t spared = context_.residence == nullptr ? 0 : account.max_bytes() / kSparedShare;
  // Other threads may take the room that was made.
  constexpr int kTries = 4;
  bool can_make_room = context_.residence != nullptr;
  for (int i = 0; can_make_room && i < kTries && account.room() < bytes + spared; ++i) {
    can_make_room = context_.residence->MakeRoom(bytes + spared);
  }
  if (account.Reserve(bytes, memory)) {
    return absl::OkStatus();
  }
  for (const RecordPtr& record : Records()) {
    record->ForgetMostRequests();
  }
  return account.Reserve(bytes, memory) ? absl::OkStatus() : MapsMemoryFull(account, "");
}

absl::StatusOr<bool> MapStore::AddNew(const RecordPtr& record, const MapSnapshot& first,
                                      const CreationRequest& request) {
  if (context_.log == nullptr) {
    Insert(record);
    return true;
  }
  const AppendOutcome outcome = AppendAndWait(
      [&](DurableLog::Done done) { context_.log->AppendCreation(first, request, std::move(done)); },
      [&] { Insert(record); });
  if (outcome.is_conflict()) {
    return false;
  }
  WAYSTAR_RETURN_IF_ERROR(outcome.status());
  return true;
}

absl::StatusOr<std::optional<MapVersion>> MapStore::EndAbsent(
    absl::string_view id, const ExpectedVersion& expected,
    absl::FunctionRef<void(MapVersion last, DurableLog::Done done)> append,
    absl::FunctionRef<void()> on_end) {
  while (true) {
    MapVersion last;
    {
      MutexLock lock(context_.readers);
      const auto it = absent_.find(id);
      if (it == absent_.end()) {
        return std::nullopt;
      }
      last = it->second.last;
      WAYSTAR_RETURN_IF_ERROR(CheckVersion(id, last, expected));
      it->second.is_ending = true;
    }
    const AppendOutcome outcome = AppendAndWait([&](DurableLog::Done done) { append(last, std::move(done)); },
                                                [&] {
                                                  {
                                                    MutexLock lock(context_.readers);
                                                    absent_.erase(std::string(id));
                                                  }
                                                  on_end();
                                                });
    if (outcome.is_durable()) {
      return last;
    }
    {
      MutexLock lock(context_.readers);
      if (const auto it = absent_.find(id); it != absent_.end()) {
        it->second.is_ending = false;
      }
    }
    if (!outcome.is_conflict()) {
      return outcome.status();
    }
  }
}

absl::StatusOr<bool> MapStore::TakePlace(const RecordPtr& old, const RecordPtr& record,
                                         const MapSnapshot& first) {
  const MapRecord::Ended ended = old->End(
      {},
      [&](MapVersion last, DurableLog::Done done) {
        context_.log->AppendReplacement(first, last, std::move(done));
      },
      [&](absl::FunctionRef<void()> tell) { SwapInTable(old, record, tell); });
  WAYSTAR_RETURN_IF_ERROR(ended.status);
  if (ended.last == nullptr) {
    return false;
  }
  TellOfExpiry(*record);
  NoteOld(ended.last);
  return true;
}

void MapStore::SwapInTable(const RecordPtr& old, const RecordPtr& record,
                           absl::FunctionRef<void()> tell) noexcept {
  // Listeners must learn of the old map's end before any event of the new map.
  record->HoldCommits([&] {
    {
      MutexLock lock(context_.readers);
      by_id_.erase(old->id());
      records_.erase(old->id());
      records_.emplace(record->id(), record);
      by_id_.emplace(record->id(), record.get());
    }
    tell();
  });
}

void MapStore::RemoveFromTable(const RecordPtr& record, absl::FunctionRef<void()> tell) noexcept {
  record->Unpublish();
  tell();
  MutexLock lock(context_.readers);
  by_id_.erase(record->id());
  records_.erase(record->id());
}

void MapStore::NoteOld(const PinnedSnapshot& last) {
  if (last.use_count() > 1) {
    context_.old_snapshots.Add(last, context_.options.clock->Now());
  }
}

void MapStore::Insert(const RecordPtr& record) noexcept {
  {
    MutexLock lock(context_.readers);
    records_.emplace(record->id(), record);
    by_id_.emplace(record->id(), record.get());
  }
  TellOfExpiry(*record);
}

void MapStore::TellOfExpiry(const MapRecord& record) {
  if (const absl::Time expiry = record.NextExpiry();
      expiry != absl::InfiniteFuture() && context_.on_earlier_expiry) {
    context_.on_earlier_expiry(expiry);
  }
}

absl::Status MapStore::Restore(MapState state) {
  Prepare(state.snapshot.map, nullptr, GridMap::LargeIndexes::kInBackground);
  MutexLock creating(creating_);
  WAYSTAR_RETURN_IF_ERROR(CheckCanCreate(state.snapshot.id));
  MemoryAccount::Reservation memory;
  if (!context_.memory->Reserve(state.snapshot.memory_bytes(), memory)) {
    return MapsMemoryFull(*context_.memory, "");
  }
  Insert(std::make_shared<MapRecord>(context_, Shared(std::move(state))));
  memory.Keep();
  return absl::OkStatus();
}

void MapStore::AddDamaged(absl::string_view id, MapVersion last) {
  MutexLock lock(context_.readers);
  absent_.insert_or_assign(std::string(id), AbsentMap{.last = last, .is_damaged = true});
}

absl::StatusOr<StoredMap> MapStore::Store(absl::string_view id) const {
  const RecordPtr record = FindOrNull(id);
  if (record != nullptr) {
    if (StoredMap stored = record->Store(); stored.snapshot != nullptr) {
      return stored;
    }
  }
  MutexLock lock(context_.readers);
  return AbsenceOf(id);
}

absl::Status MapStore::AbsenceOf(absl::string_view id) const {
  const auto it = absent_.find(id);
  return it != absent_.end() && !it->second.is_damaged ? MapLoading(id) : NoSuchMap(id);
}

absl::Status MapStore::AskFor(absl::string_view id, const absl::Status& absence) const {
  if (!LoadingMapOf(absence).empty()) {
    context_.residence->LoadSoon(id);
  }
  return absence;
}

absl::StatusOr<MapStore::RecordPtr> MapStore::FindRecord(absl::string_view id) const {
  WAYSTAR_RETURN_IF_ERROR(CheckMapId(id));
  absl::Status absence;
  {
    MutexLock lock(context_.readers);
    if (const auto it = records_.find(id); it != records_.end()) {
      it->second->NoteUse(++uses_);
      return it->second;
    }
    absence = AbsenceOf(id);
  }
  return AskFor(id, absence);
}

MapStore::RecordPtr MapStore::FindOrNull(absl::string_view id) const {
  MutexLock lock(context_.readers);
  const auto it = records_.find(id);
  return it == records_.end() ? nullptr : it->second;
}

MapStore::RecordPtr MapStore::FindEnding(absl::string_view id) const {
  MutexLock lock(context_.readers);
  const auto it = records_.find(id);
  return it == records_.end() || it->second->Latest() != nullptr ? nullptr : it->second;
}

bool MapStore::Exists(absl::string_view id) const {
  MutexLock lock(context_.readers);
  return records_.contains(id) || absent_.contains(id);
}

std::vector<MapStore::RecordPtr> MapStore::Records() const {
  std::vector<RecordPtr> records;
  MutexLock lock(context_.readers);
  records.reserve(records_.size());
  for (const auto& [id, record] : records_) {
    records.push_back(record);
  }
  return records;
}

PinnedSnapshot MapStore::LatestOrNull(absl::string_view id) const {
  MutexLock lock(context_.readers);
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : it->second->Latest();
}

absl::StatusOr<PinnedSnapshot> MapStore::Pin(absl::string_view id) const {
  WAYSTAR_RETURN_IF_ERROR(CheckMapId(id));
  absl::Status absence;
  {
    MutexLock lock(context_.readers);
    if (const auto it = by_id_.find(id); it != by_id_.end()) {
      if (PinnedSnapshot latest = it->second->Latest(); latest != nullptr) {
        it->second->NoteUse(++uses_);
        return latest;
      }
    }
    absence = AbsenceOf(id);
  }
  return AskFor(id, absence);
}

std::vector<PinnedSnapshot> MapStore::List(absl::string_view after, std::size_t limit) const {
  std::vector<PinnedSnapshot> snapshots;
  MutexLock lock(context_.readers);
  for (auto it = records_.upper_bound(after); it != records_.end() && snapshots.size() < limit; ++it) {
    if (PinnedSnapshot latest = it->second->Latest(); latest != nullptr) {
      snapshots.push_back(std::move(latest));
    }
  }
  return snapshots;
}

MemoryUse MapStore::MeasureMemory() const {
  MemoryUse use{.old_snapshots = AllOldSnapshots().bytes};
  for (const RecordPtr& record : Records()) {
    record->AddTo(use);
  }
  return use;
}

void MapStore::Drop(MemoryDrop what) {
  for (const RecordPtr& record : Records()) {
    record->Drop(what);
  }
  if (what == MemoryDrop::kHistory) {
    context_.old_snapshots.EvictAll();
    context_.recent_snapshots.Drop(Now());
  }
}

absl::StatusOr<MapVersion> MapStore::Delete(absl::string_view id, const ExpectedVersion& expected) {
  WAYSTAR_RETURN_IF_ERROR(CheckMapId(id));
  while (true) {
    const RecordPtr record = FindOrNull(id);
    if (record == nullptr) {
      MutexLock creating(creating_);
      WAYSTAR_ASSIGN_OR_RETURN(const std::optional<MapVersion> absent,
                               EndAbsent(
                                   id, expected,
                                   [&](MapVersion last, DurableLog::Done done) {
                                     context_.log->AppendDeletion(id, last, std::move(done));
                                   },
                                   [] {}));
      if (absent) {
        return *absent;
      }
      if (Exists(id)) {
        continue;
      }
      return NoSuchMap(id);
    }
    const MapRecord::Ended ended = record->End(
        expected,
        [&](MapVersion last, DurableLog::Done done) {
          context_.log->AppendDeletion(id, last, std::move(done));
        },
        [&](absl::FunctionRef<void()> tell) { RemoveFromTable(record, tell); });
    WAYSTAR_RETURN_IF_ERROR(ended.status);
    // Another thread has deleted, replaced or unloaded the map first.
    if (ended.last == nullptr) {
      continue;
    }
    NoteOld(ended.last);
    return ended.last->version();
  }
}

void MapStore::Update(absl::string_view id, UpdateBatch batch, UpdateDone done) {
  if (!batch.request_id.empty()) {
    if (absl::Status status = CheckRequestId(batch.request_id); !status.ok()) {
      std::move(done)(std::move(status));
      return;
    }
  }
  const absl::StatusOr<RecordPtr> record = FindRecord(id);
  if (!record.ok()) {
    std::move(done)(record.status());
    return;
  }
  if (absl::Status refusal = WhyRefusing(); !refusal.ok()) {
    std::move(done)(std::move(refusal));
    return;
  }
  (*record)->Update(std::move(batch), std::move(done));
}

absl::StatusOr<UpdateResult> MapStore::UpdateAndWait(absl::string_view id, UpdateBatch batch) {
  return CallAndWait<absl::StatusOr<UpdateResult>>(
      [&](UpdateDone done) { Update(id, std::move(batch), std::move(done)); });
}

absl::StatusOr<History> MapStore::ReadHistory(absl::string_view id, std::uint64_t from,
                                              std::size_t max) const {
  WAYSTAR_ASSIGN_OR_RETURN(const RecordPtr record, FindRecord(id));
  return record->ReadHistory(from, max);
}

absl::Time MapStore::ExpireDue(absl::Time now) {
  absl::Time next = context_.recent_snapshots.Drop(now);
  for (const RecordPtr& record : Records()) {
    record->ExpireDue(now);
    // A removal that is still due is with the committing thread, which reports what comes after it.
    if (const absl::Time expiry = record->NextExpiry(); expiry > now) {
      next = std::min(next, expiry);
    }
  }
  return next;
}

void MapStore::OnEarlierExpiry(std::function<void(absl::Time)> hook) {
  context_.on_earlier_expiry = std::move(hook);
  absl::Time next = absl::InfiniteFuture();
  for (const RecordPtr& record : Records()) {
    next = std::min(next, record->NextExpiry());
  }
  if (next != absl::InfiniteFuture()) {
    context_.on_earlier_expiry(next);
  }
}

absl::StatusOr<bool> MapStore::BuildInBackground(absl::string_view id, CancelFlag cancelled) {
  const RecordPtr record = FindOrNull(id);
  return record == nullptr ? absl::StatusOr<bool>(NoSuchMap(id)) : record->BuildInBackground(cancelled);
}

void MapStore::PutStaticIndex(const MapSnapshot& of, const std::shared_ptr<const StaticIndex>& index) {
  if (const RecordPtr record = FindOrNull(of.id)) {
    record->PutStaticIndex(of, index);
  }
}

std::vector<PastSnapshot> MapStore::AskPast(absl::string_view id) const {
  const absl::Time now = Now();
  std::vector<PastSnapshot> past;
  if (context_.recent_snapshots.Ask(id, now, past) && context_.on_earlier_expiry) {
    context_.on_earlier_expiry(now + RecentSnapshots::kKept);
  }
  return past;
}

OldSnapshotsInfo MapStore::OldSnapshotsOf(absl::string_view id) const {
  return context_.old_snapshots.InfoOf(id, context_.latest_of);
}

OldSnapshotsTotal MapStore::AllOldSnapshots() const {
  return context_.old_snapshots.Total(context_.options.clock->Now(), context_.latest_of);
}

std::size_t MapStore::size() const {
  MutexLock lock(context_.readers);
  return records_.size();
}

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
