#include "server/storage/fleet/cluster_log.h"

#include <algorithm>
#include <future>
#include <map>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/base/error.h"
#include "server/base/random_id.h"
#include "server/storage/folder/image_file.h"
#include "server/storage/folder/log_entry.h"

namespace waystar::cluster {
namespace {

using core::AppendOutcome;
using core::MapVersion;

constexpr MapVersion kNoMap{.epoch = 0};
// Stands for the unknown revision that put the head of a map loaded from a cache. No head is ever put at
// revision 1.
constexpr std::int64_t kUnknownRevision = 1;

absl::Status TooLarge(absl::string_view id, const ImagePlace& images) {
  return MakeError(
      ErrorReason::kImportTooLarge, "map",
      absl::StrCat("map \"", id, "\" is too large for etcd, which takes at most ", images.max_parts, " MiB",
                   images.folder == nullptr ? "; a fleet with --image_dir takes it" : ""));
}

// Returns the error with which a failed change is answered.
absl::Status NotTaken(const absl::Status& failure) {
  if (etcd::FailureOf(failure) == etcd::Failure::kNoSpace) {
    return MakeError(ErrorReason::kStorageFull, "",
                     "etcd is out of space (NOSPACE); changes fail until it is compacted and defragmented");
  }
  return MakeError(ErrorReason::kStorageFailed, "",
                   absl::StrCat("the fleet's log cannot be reached: ", failure.message()));
}

// Adds the parts of a value whose keys begin with `data`. Parts may be deleted along with an earlier map of
// that id, or by the sweep, so the transaction compares that they exist.
void AddParts(absl::string_view data, const std::vector<absl::string_view>& parts, Sending& sending) {
  for (const absl::string_view part : parts) {
    const std::string key = PartKey(data, sending.parts.size());
    sending.parts.push_back({key, std::string(part)});
    sending.txn.compares.push_back({.key = key,
                                    .target = etcd::Compare::Target::kCreateRevision,
                                    .relation = etcd::Compare::Relation::kGreater});
  }
}

// Adds the deletion of the records and the data of an epoch.
void DeleteEpoch(const ClusterKeys& keys, const std::string& id, std::uint64_t epoch, Sending& sending) {
  sending.txn.then.push_back(etcd::Delete{keys.LogBegin(id, epoch), keys.LogEnd(id, epoch)});
  sending.txn.then.push_back(etcd::Delete{keys.DataBegin(id, epoch), keys.DataEnd(id, epoch)});
}

// Returns true if the read head, or end, of a map was put by that append.
bool IsPutBy(AppendName name, const std::vector<etcd::KeyValue>& heads) {
  if (heads.empty()) {
    return false;
  }
  const absl::StatusOr<MapHead> head = Decode<MapHead>(heads.front().value);
  return head.ok() && head->append == name;
}

bool IsFull(const absl::Status& status) { return !status.ok() && absl::IsResourceExhausted(status); }

absl::Status GivenUp() {
  return NotTaken(absl::CancelledError("the server stops, and does not know whether the change was made"));
}

absl::Status GoneBack(std::int64_t known, std::int64_t newest) {
  return MakeError(
      ErrorReason::kStorageFailed, "",
      absl::StrCat("etcd has gone back from revision ", known, " to ", newest,
                   ", as if it was restored or emptied: the servers of the fleet are to be started again"));
}

// Returns true if the same read may succeed later.
bool IsTransient(const absl::Status& status) {
  switch (etcd::FailureOf(status)) {
    case etcd::Failure::kUnreachable:
    case etcd::Failure::kNoLeader:
    case etcd::Failure::kBusy:
    case etcd::Failure::kDenied:
      return true;
    default:
      return false;
  }
}

}  // namespace

ClusterLog::ClusterLog(etcd::Client& client, const ClusterKeys& keys, core::MapStore& store,
                       ClusterLogOptions options)
    : client_(client),
      keys_(keys),
      store_(store),
      options_(std::move(options)),
      reader_(client, keys, options_.images.folder),
      server_(RandomId()) {}

ClusterLog::~ClusterLog() { Stop(); }

void ClusterLog::Know(const std::string& id, const FleetMap& map, bool is_broken) {
  MapLane& lane = LaneOf(id);
  lane.version = map.head.version;
  lane.etcd_revision = map.head_revision;
  lane.records = map.records.size();
  lane.is_broken = is_broken;
  if (is_broken) {
    Count(&ClusterLogStatistics::broken);
  }
}

void ClusterLog::KnowCached(const std::string& id, MapVersion version) {
  MapLane& lane = LaneOf(id);
  lane.version = version;
  lane.etcd_revision = kUnknownRevision;
}

void ClusterLog::Start(std::int64_t revision, TimePoint read) {
  seen_revision_ = revision;
  told_revision_ = revision;
  NoteFollowed(revision);
  NoteHeard(read);
  StartThread([this, revision] { BeginWatch(revision + 1); });
}

void ClusterLog::StartWithoutEtcd(absl::Time known_at) {
  const absl::Duration age = std::max(absl::Now() - known_at, absl::ZeroDuration());
  NoteHeard(std::chrono::steady_clock::now() - absl::ToChronoNanoseconds(age));
  has_gap_ = true;
  SetStatus(NotTaken(absl::UnavailableError("it has not been reached since the start")));
  StartThread([this] { ReadAfresh(); });
}

void ClusterLog::StartThread(Task first) {
  Post(std::move(first));
  thread_ = std::thread([this] { Run(); });
  Listen();
  Post([this] { AskNewest(); });
  SendSlowOnesAgain();
}

void ClusterLog::GiveUp() {
  Post([this] {
    has_given_up_ = true;
    AnswerAll(GivenUp());
  });
}

void ClusterLog::AnswerAll(const absl::Status& status) {
  TakeSubmitted();
  for (const std::string& id : LaneIds()) {
    Answer(id, status);
  }
}

void ClusterLog::Stop() {
  if (!thread_.joinable()) {
    return;
  }
  is_stopping_ = true;
  GiveUp();
  thread_.join();
  writer_.Stop();
  loader_.Stop();
  {
    std::deque<Task> dropped;
    MutexLock lock(mutex_);
    has_ended_ = true;
    dropped.swap(tasks_);
  }
  watch_.reset();
  // Answers appends of dropped tasks, and those made by `done` callbacks.
  has_given_up_ = true;
  AnswerAll(GivenUp());
  DriveSubmitted();
}

void ClusterLog::NoteImage(const std::string& id, MapVersion version) {
  Post([this, id, version] {
    MapLane* const lane = FindLane(id);
    if (lane != nullptr && lane->version.epoch == version.epoch) {
      lane->record_bytes = 0;
    }
  });
}

absl::Status ClusterLog::Call(std::function<absl::Status()> task) {
  std::promise<absl::Status> result;
  std::future<absl::Status> outcome = result.get_future();
  Post([task = std::move(task), result = std::move(result)]() mutable { result.set_value(task()); });
  try {
    return outcome.get();
  } catch (const std::future_error&) {
    // The task was dropped.
    return absl::UnavailableError("the fleet's log has stopped");
  }
}

absl::Status ClusterLog::WhyRefusing() const {
  if (!refuses_) {
    return absl::OkStatus();
  }
  MutexLock lock(mutex_);
  return statistics_.status;
}

ClusterLogStatistics ClusterLog::Statistics() const {
  MutexLock lock(mutex_);
  return statistics_;
}

void ClusterLog::AppendCreation(const core::MapSnapshot& first, const core::CreationRequest& request,
                                Done done) {
  core::StoredMap map{.snapshot = std::make_shared<const core::MapSnapshot>(first)};
  if (!request.request_id.empty()) {
    map.requests.push_back(core::RequestOf(first, request));
  }
  Submit(first.id, {.kind = Append::Kind::kCreation,
                    .after = first.version(),
                    .digest = first.digest(),
                    .bytes = storage::EncodeStoredMap(map),
                    .done = std::move(done)});
}

void ClusterLog::AppendReplacement(const core::MapSnapshot& first, MapVersion replaced, Done done) {
  Submit(first.id,
         {.kind = Append::Kind::kReplacement,
          .before = replaced,
          .after = first.version(),
          .digest = first.digest(),
          .bytes = storage::EncodeStoredMap({.snapshot = std::make_shared<const core::MapSnapshot>(first)}),
          .done = std::move(done)});
}

void ClusterLog::AppendCommits(absl::string_view id, std::uint64_t epoch,
                               std::vector<core::LoggedCommit> commits, Done done) {
  const core::Commit& first = *commits.front().commit;
  const core::Commit& last = *commits.back().commit;
  Submit(id, {.kind = Append::Kind::kCommits,
              .before = {.epoch = epoch, .revision = first.revision - 1},
              .after = {.epoch = epoch, .revision = last.revision},
              .digest = last.digest,
              .bytes = storage::EncodeCommits(id, epoch, commits).bytes,
              .done = std::move(done)});
}

void ClusterLog::AppendDeletion(absl::string_view id, MapVersion last, Done done) {
  Submit(id, {.kind = Append::Kind::kDeletion, .before = last, .done = std::move(done)});
}

void ClusterLog::Submit(absl::string_view id, Append append) {
  append.appended = std::chrono::steady_clock::now();
  MutexLock lock(mutex_);
  submitted_.emplace_back(id, std::move(append));
  wake_.NotifyOne();
}

MapLane& ClusterLog::LaneOf(const std::string& id) {
  std::unique_ptr<MapLane>& lane = lanes_[id];
  if (lane == nullptr) {
    lane = std::make_unique<MapLane>();
  }
  return *lane;
}

MapLane* ClusterLog::FindLane(const std::string& id) {
  const auto it = lanes_.find(id);
  return it == lanes_.end() ? nullptr : it->second.get();
}

std::vector<std::string> ClusterLog::LaneIds() const {
  std::vector<std::string> ids;
  for (const auto& [id, lane] : lanes_) {
    ids.push_back(id);
  }
  std::ranges::sort(ids);
  return ids;
}

MapLane* ClusterLog::LaneThatSends(const std::string& id, AppendName name) {
  MapLane* const lane = FindLane(id);
  return lane != nullptr && lane->sending && lane->sending->name == name ? lane : nullptr;
}

void ClusterLog::ForgetEnded() {
  for (const std::string& id : std::exchange(ended_, {})) {
    const MapLane* const lane = FindLane(id);
    // A late event of the old map's end must not be taken for that of a new map.
    if (lane != nullptr && lane->version == kNoMap && lane->waiting.empty() && !lane->sending &&
        !lane->is_behind && lane->loading == 0 && lane->etcd_revision <= seen_revision_) {
      lanes_.erase(id);
    }
  }
  MutexLock lock(mutex_);
  statistics_.maps = lanes_.size();
}

void ClusterLog::TakeSubmitted() {
  std::deque<std::pair<std::string, Append>> submitted;
  {
    MutexLock lock(mutex_);
    submitted.swap(submitted_);
  }
  for (auto& [id, append] : submitted) {
    LaneOf(id).waiting.push_back(std::move(append));
    to_drive_.push_back(id);
  }
}

void ClusterLog::DriveSubmitted() {
  TakeSubmitted();
  while (!to_drive_.empty()) {
    std::vector<std::string> ids;
    ids.swap(to_drive_);
    for (const std::string& id : ids) {
      Drive(id);
    }
  }
}

void ClusterLog::Post(Task task) {
  MutexLock lock(mutex_);
  if (has_ended_) {
    return;
  }
  tasks_.push_back(std::move(task));
  wake_.NotifyOne();
}

void ClusterLog::PostAfter(absl::Duration delay, Task task) {
  MutexLock lock(mutex_);
  timers_.emplace_back(std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(delay), std::move(task));
  wake_.NotifyOne();
}

void ClusterLog::Run() {
  while (true) {
    std::deque<Task> tasks;
    {
      MutexLock lock(mutex_);
      while (tasks_.empty() && submitted_.empty()) {
        const auto next =
            std::ranges::min_element(timers_, [](const auto& a, const auto& b) { return a.first < b.first; });
        if (next == timers_.end()) {
          wake_.Wait(mutex_);
        } else if (next->first > std::chrono::steady_clock::now()) {
          wake_.WaitUntil(mutex_, next->first);
        } else {
          break;
        }
      }
      tasks.swap(tasks_);
      const TimePoint now = std::chrono::steady_clock::now();
      for (std::size_t i = 0; i < timers_.size();) {
        if (timers_[i].first > now) {
          ++i;
          continue;
        }
        tasks.push_back(std::move(timers_[i].second));
        std::swap(timers_[i], timers_.back());
        timers_.pop_back();
      }
    }
    for (Task& task : tasks) {
      if (is_stopping_) {
        return;
      }
      std::move(task)();
    }
    DriveSubmitted();
    ForgetEnded();
  }
}

void ClusterLog::Drive(const std::string& id) {
  DropLost(id);
  MapLane& lane = *lanes_.at(id);
  if (has_given_up_ && !lane.waiting.empty()) {
    Answer(id, GivenUp());
    return;
  }
  if (!gone_back_.ok() && !lane.waiting.empty()) {
    Answer(id, gone_back_);
    return;
  }
  if (lane.waiting.empty() || lane.sending || lane.is_behind) {
    return;
  }
  const absl::Status status = Statistics().status;
  const bool is_bare = lane.waiting.front().kind == Append::Kind::kDeletion && IsFull(status);
  if (!status.ok() && !is_bare) {
    Answer(id, status);
    return;
  }
  lane.sending = Compose(id, lane);
  if (is_bare) {
    lane.sending->is_bare = true;
    std::erase_if(lane.sending->txn.then, [](const etcd::Operation& operation) {
      return std::holds_alternative<etcd::Put>(operation);
    });
  }
  if (!lane.sending->file && lane.sending->parts.size() > options_.images.max_parts) {
    Answer(id, TooLarge(id, options_.images));
    return;
  }
  Send(id);
}

Sending ClusterLog::Compose(const std::string& id, MapLane& lane) {
  Sending sending{.name = {.server = server_, .number = ++appends_}, .appends = 1};
  const std::string head = keys_.Head(id);
  sending.txn.compares.push_back({.key = head, .number = lane.version == kNoMap ? 0 : lane.etcd_revision});
  sending.txn.otherwise.push_back(etcd::RangeQuery{.key = head});
  Append& append = lane.waiting.front();
  switch (append.kind) {
    case Append::Kind::kCreation:
    case Append::Kind::kReplacement:
      ComposeBeginning(id, append, lane, sending);
      break;
    case Append::Kind::kCommits:
      ComposeCommits(id, lane, sending);
      break;
    case Append::Kind::kDeletion:
      sending.txn.then = {
          etcd::Put{keys_.End(id), Encode(MapHead{.version = append.before, .append = sending.name})},
          etcd::Delete{head}, etcd::Delete{keys_.Base(id)}};
      DeleteEpoch(keys_, id, append.before.epoch, sending);
      break;
  }
  return sending;
}

void ClusterLog::ComposeBeginning(const std::string& id, Append& append, const MapLane& lane,
                                  Sending& sending) {
  // Also conflicts with a map of that id that was created and deleted after the state the store knows.
  const std::string end = keys_.End(id);
  sending.txn.compares.push_back({.key = end,
                                  .relation = etcd::Compare::Relation::kLess,
                                  .number = std::max(seen_revision_, lane.etcd_revision) + 1});
  sending.txn.otherwise.push_back(etcd::RangeQuery{.key = end});
  MapBase base;
  std::vector<absl::string_view> parts = CutIntoParts(append.bytes);
  if (options_.images.folder != nullptr && parts.size() > options_.images.max_parts) {
    base = BaseInFile(keys_, id, append.after, append.bytes);
    parts = {base.file};
  } else {
    base = {.version = append.after, .image = PartsOf(append.bytes, keys_.Data(id, append.after, server_))};
  }
  AddParts(base.image.data, parts, sending);
  sending.txn.then = {
      etcd::Put{keys_.Head(id),
                Encode(MapHead{.version = append.after, .digest = append.digest, .append = sending.name})},
      etcd::Put{keys_.Base(id), Encode(base)}};
  if (!base.file.empty()) {
    sending.file = {.name = base.file, .bytes = std::make_shared<const std::string>(std::move(append.bytes))};
  }
  if (lane.version != kNoMap) {
    DeleteEpoch(keys_, id, lane.version.epoch, sending);
  }
}

void ClusterLog::ComposeCommits(const std::string& id, MapLane& lane, Sending& sending) {
  LogRecord record{.append = sending.name};
  const Append* last = nullptr;
  sending.appends = 0;
  for (const Append& append : lane.waiting) {
    if (append.kind != Append::Kind::kCommits ||
        (last != nullptr && record.entries.size() + append.bytes.size() > kMaxValueBytes)) {
      break;
    }
    storage::AddEntry(append.bytes, record.entries);
    last = &append;
    ++sending.appends;
  }
  lane.record_bytes += record.entries.size();
  if (record.entries.size() > kMaxValueBytes) {
    const std::string data = keys_.Data(id, last->after, sending.name.number ^ server_);
    AddParts(data, CutIntoParts(record.entries), sending);
    record.parts = PartsOf(record.entries, data);
    record.entries.clear();
  }
  sending.txn.then = {
      etcd::Put{keys_.Log(id, last->after), Encode(record)},
      etcd::Put{keys_.Head(id),
                Encode(MapHead{.version = last->after, .digest = last->digest, .append = sending.name})}};
}

void ClusterLog::Send(const std::string& id) {
  Sending& sending = *lanes_.at(id)->sending;
  const AppendName name = sending.name;
  if (sending.parts_put < sending.parts.size()) {
    etcd::Txn txn;
    txn.then.emplace_back(sending.parts[sending.parts_put]);
    client_.Commit(txn, [this, id, name](absl::StatusOr<etcd::TxnResult> result) {
      Post([this, id, name, result = std::move(result)] { OnPart(id, name, result); });
    });
    return;
  }
  if (sending.file && !sending.file->is_written) {
    writer_.Do([this, id, name, file = *sending.file] {
      const absl::Status status = WriteImage(*options_.images.folder, file.name, *file.bytes);
      Post([this, id, name, status] { OnFile(id, name, status); });
    });
    return;
  }
  sending.is_sent = true;
  sending.sent_at = std::chrono::steady_clock::now();
  client_.Commit(sending.txn, [this, id, name](absl::StatusOr<etcd::TxnResult> result) {
    Post([this, id, name, result = std::move(result)] { OnTxn(id, name, result); });
  });
}

void ClusterLog::OnPart(const std::string& id, AppendName name,
                        const absl::StatusOr<etcd::TxnResult>& result) {
  MapLane* const lane = LaneThatSends(id, name);
  if (lane == nullptr) {
    return;
  }
  if (!result.ok()) {
    OnFailure(id, result.status());
    return;
  }
  ++lane->sending->parts_put;
  Send(id);
}

void ClusterLog::OnFile(const std::string& id, AppendName name, const absl::Status& status) {
  MapLane* const lane = LaneThatSends(id, name);
  if (lane == nullptr) {
    return;
  }
  if (!status.ok()) {
    DeleteParts(*lane->sending);
    Answer(id, status);
    return;
  }
  lane->sending->file->is_written = true;
  Send(id);
}

void ClusterLog::OnTxn(const std::string& id, AppendName name,
                       const absl::StatusOr<etcd::TxnResult>& result) {
  MapLane* const found = LaneThatSends(id, name);
  // The watch may have reported the outcome already.
  if (found == nullptr) {
    return;
  }
  MapLane& lane = *found;
  if (!result.ok()) {
    lane.sending->is_in_doubt |= etcd::FailureOf(result.status()) == etcd::Failure::kUnknownOutcome;
    OnFailure(id, result.status());
    return;
  }
  if (result->succeeded) {
    OnLanded(id, result->revision);
    return;
  }
  if (!lane.sending->is_bare) {
    SetStatus(absl::OkStatus());
  }
  const std::vector<etcd::KeyValue>& heads = result->results.front().entries;
  if (IsPutBy(name, heads)) {
    OnLanded(id, heads.front().mod_revision);
    return;
  }
  const std::int64_t expected = lane.version == kNoMap ? 0 : lane.etcd_revision;
  const bool has_ended =
      result->results.size() > 1 && !result->results[1].entries.empty() &&
      result->results[1].entries.front().mod_revision >= lane.sending->txn.compares[1].number;
  if ((heads.empty() ? 0 : heads.front().mod_revision) == expected && !has_ended) {
    SendPartsAgain(id);
    return;
  }
  // The watch will report what others did, and whether this transaction was committed before.
  lane.is_behind = true;
}

void ClusterLog::SendPartsAgain(const std::string& id) {
  MapLane& lane = *lanes_.at(id);
  if (!lane.sending->file) {
    lane.sending->parts_put = 0;
    SendLater(id, lane.sending->name);
    return;
  }
  // Another server may remove the file at any time now, and no name is used twice: compose a new transaction
  // with a new file.
  lane.waiting.front().bytes = *lane.sending->file->bytes;
  lane.sending.reset();
  PostAfter(options_.retry_interval, [this, id] {
    if (FindLane(id) != nullptr) {
      Drive(id);
    }
  });
}

void ClusterLog::DeleteParts(const Sending& sending) {
  if (sending.parts.empty()) {
    return;
  }
  const std::string& first = sending.parts.front().key;
  const std::string data = first.substr(0, first.rfind('/') + 1);
  client_.Commit({.then = {etcd::Delete{data, etcd::EndOfPrefix(data)}}},
                 [](const absl::StatusOr<etcd::TxnResult>& /*result*/) {});
}

void ClusterLog::OnFailure(const std::string& id, const absl::Status& status) {
  MapLane& lane = *lanes_.at(id);
  const absl::Status answer = NotTaken(status);
  const etcd::Failure failure = etcd::FailureOf(status);
  if (failure != etcd::Failure::kTooLarge) {
    SetStatus(answer);
  }
  if (failure == etcd::Failure::kNoSpace && lane.sending->is_sent && !lane.sending->is_refused) {
    LookWhetherApplied(id, status);
    return;
  }
  if (failure == etcd::Failure::kNoSpace && !lane.sending->is_bare && !lane.sending->is_in_doubt &&
      lane.waiting.front().kind == Append::Kind::kDeletion) {
    // Resend without the puts.
    lane.sending.reset();
    Drive(id);
    return;
  }
  if (lane.sending->is_in_doubt || failure == etcd::Failure::kUnknownOutcome) {
    SendLater(id, lane.sending->name);
    return;
  }
  Answer(id, failure == etcd::Failure::kTooLarge ? TooLarge(id, options_.images) : answer);
}

void ClusterLog::LookWhetherApplied(const std::string& id, const absl::Status& refusal) {
  const MapLane& lane = *lanes_.at(id);
  const AppendName name = lane.sending->name;
  const bool is_deletion = lane.waiting.front().kind == Append::Kind::kDeletion;
  const auto look = [this, id, name, refusal](const absl::StatusOr<etcd::RangeResult>& read) {
    MapLane* const of_map = LaneThatSends(id, name);
    if (of_map == nullptr) {
      return;
    }
    if (!read.ok()) {
      RetryLater(id, name, [this, id, refusal] { LookWhetherApplied(id, refusal); });
      return;
    }
    of_map->sending->is_refused = true;
    if (IsPutBy(name, read->entries)) {
      OnLanded(id, read->entries.front().mod_revision);
    } else {
      OnFailure(id, refusal);
    }
  };
  client_.Range({.key = is_deletion ? keys_.End(id) : keys_.Head(id)},
                [this, look](absl::StatusOr<etcd::RangeResult> read) {
                  Post([look, read = std::move(read)] { look(read); });
                });
}

void ClusterLog::RetryLater(const std::string& id, AppendName name, Task task) {
  PostAfter(options_.retry_interval, [this, id, name, task = std::move(task)]() mutable {
    if (LaneThatSends(id, name) != nullptr) {
      std::move(task)();
    }
  });
}

void ClusterLog::SendLater(const std::string& id, AppendName name) {
  RetryLater(id, name, [this, id] { Send(id); });
}

void ClusterLog::OnLanded(const std::string& id, std::int64_t revision) {
  Land(id, revision);
  Drive(id);
}

void ClusterLog::Land(const std::string& id, std::int64_t revision) {
  MapLane& lane = *lanes_.at(id);
  std::vector<Append> landed;
  for (std::size_t i = 0; i < lane.sending->appends; ++i) {
    landed.push_back(std::move(lane.waiting.front()));
    lane.waiting.pop_front();
  }
  const bool is_commit = landed.back().kind == Append::Kind::kCommits;
  const bool is_full = lane.sending->is_bare || lane.sending->is_refused;
  lane.sending.reset();
  lane.is_behind = false;
  lane.version = landed.back().after;
  lane.etcd_revision = revision;
  lane.records = is_commit ? lane.records + 1 : 0;
  lane.record_bytes = is_commit ? lane.record_bytes : 0;
  lane.is_broken &= is_commit;
  if (!is_full) {
    SetStatus(absl::OkStatus());
  }
  Count(&ClusterLogStatistics::landed);
  const TimePoint now = std::chrono::steady_clock::now();
  for (Append& append : landed) {
    if (options_.on_commit) {
      options_.on_commit(absl::FromChrono(now - append.appended));
    }
    std::move(append.done)(absl::OkStatus());
  }
  if (options_.on_long &&
      (lane.records >= options_.max_records || lane.record_bytes >= options_.max_record_bytes)) {
    options_.on_long(id);
  }
}

void ClusterLog::Answer(const std::string& id, const AppendOutcome& outcome) {
  TakeSubmitted();
  MapLane& lane = *lanes_.at(id);
  lane.sending.reset();
  lane.lost = outcome;
  ended_.push_back(id);
  std::deque<Append> waiting;
  waiting.swap(lane.waiting);
  for (Append& append : waiting) {
    std::move(append.done)(outcome);
  }
}

void ClusterLog::Conflict(const std::string& id) {
  TakeSubmitted();
  MapLane& lane = *lanes_.at(id);
  if (lane.sending) {
    DeleteParts(*lane.sending);
  }
  if (!lane.waiting.empty()) {
    Count(&ClusterLogStatistics::conflicts);
  }
  Answer(id, AppendOutcome::Conflict());
}

void ClusterLog::DropLost(const std::string& id) {
  TakeSubmitted();
  MapLane& lane = *lanes_.at(id);
  if (lane.waiting.empty()) {
    return;
  }
  if (lane.waiting.front().before == lane.version) {
    lane.lost.reset();
    return;
  }
  Answer(id, lane.lost ? AppendOutcome(*lane.lost) : AppendOutcome::Conflict());
}

void ClusterLog::BeginWatch(std::int64_t revision) {
  etcd::WatchCallbacks callbacks;
  callbacks.on_events = [this](std::int64_t at, std::vector<etcd::WatchEvent> events) {
    Count(&ClusterLogStatistics::lag);
    Post([this, at, events = std::move(events)]() mutable { OnEvents(at, std::move(events)); });
  };
  callbacks.on_progress = [this](std::int64_t at) {
    Post([this, at] {
      told_revision_ = std::max(told_revision_, at);
      NoteAllSeen();
    });
  };
  // Without this, a server that makes no changes would not notice that etcd is away.
  callbacks.on_cut = [this](const absl::Status& /*status*/) { Post([this] { Probe(); }); };
  callbacks.on_compacted = [this](std::int64_t /*first_left*/) { Post([this] { ReadAfresh(); }); };
  watch_ = std::make_unique<etcd::Watch>(
      client_, keys_.Maps(), revision, std::move(callbacks),
      etcd::WatchOptions{.quiet_timeout = options_.quiet_timeout, .progress_interval = AskInterval()});
}

void ClusterLog::OnEvents(std::int64_t revision, std::vector<etcd::WatchEvent> events) {
  Count(&ClusterLogStatistics::lag, -1);
  // The watch was replaced by a full read; its remaining events are old.
  if (has_gap_ || revision <= seen_revision_) {
    return;
  }
  std::map<std::string, MapChange> changes;
  for (etcd::WatchEvent& event : events) {
    const std::optional<ClusterKeys::MapKey> key = keys_.ParseMapKey(event.key);
    if (!key) {
      continue;
    }
    if (key->kind == ClusterKeys::MapKey::Kind::kRecord && event.is_delete) {
      // An image has replaced the record.
      if (MapLane* const lane = FindLane(key->id); lane != nullptr && lane->records > 0) {
        --lane->records;
      }
    } else if (key->kind == ClusterKeys::MapKey::Kind::kRecord) {
      changes[key->id].record = std::move(event.value);
    } else if (key->kind == ClusterKeys::MapKey::Kind::kHead && event.is_delete) {
      changes[key->id].is_end = true;
    } else if (!event.is_delete) {
      MapChange& change = changes[key->id];
      change.head = std::move(event.value);
      change.is_end |= key->kind == ClusterKeys::MapKey::Kind::kEnd;
    }
  }
  for (auto& [id, change] : changes) {
    if (change.head || change.is_end) {
      change.revision = revision;
      OnChange(id, std::move(change));
      ended_.push_back(id);
    }
  }
  seen_revision_ = revision;
  told_revision_ = std::max(told_revision_, revision);
  NoteAllSeen();
}

void ClusterLog::NoteHeard(TimePoint at) {
  {
    MutexLock lock(mutex_);
    statistics_.heard = at;
  }
  if (options_.on_heard) {
    options_.on_heard(at);
  }
}

absl::Duration ClusterLog::AskInterval() const {
  constexpr int kAsks = 10;
  return options_.quiet_timeout / kAsks;
}

void ClusterLog::AskNewest() {
  const TimePoint asked = std::chrono::steady_clock::now();
  client_.Range({.key = keys_.Probe()},
                [this, asked, known = told_revision_](const absl::StatusOr<etcd::RangeResult>& read) {
                  Post([this, asked, known, newest = read.ok() ? read->revision : 0,
                        cluster = read.ok() ? read->cluster : 0] {
                    if (newest != 0) {
                      OnNewest(asked, known, newest, cluster);
                    }
                    if (gone_back_.ok()) {
                      PostAfter(AskInterval(), [this] { AskNewest(); });
                    }
                  });
                });
}

void ClusterLog::OnNewest(TimePoint asked, std::int64_t known, std::int64_t newest, std::uint64_t cluster) {
  if (cluster_ == 0) {
    cluster_ = cluster;
  }
  if (newest < known) {
    StopFollowing(GoneBack(known, newest));
  } else if (cluster != cluster_) {
    StopFollowing(
        MakeError(ErrorReason::kStorageFailed, "",
                  "etcd is another cluster than before: the servers of the fleet are to be started again"));
  } else {
    newest_.Note(asked, newest);
    NoteAllSeen();
  }
}

void ClusterLog::StopFollowing(const absl::Status& why) {
  watch_.reset();
  has_gap_ = true;
  gone_back_ = why;
  for (const auto& [id, lane] : lanes_) {
    StopLoading(*lane);
  }
  if (options_.on_gone_back) {
    options_.on_gone_back(why);
  }
  SetStatus(why);
  {
    MutexLock lock(mutex_);
    // SetStatus changes nothing if changes already failed because etcd was away.
    statistics_.status = why;
    statistics_.has_gone_back = true;
  }
  AnswerAll(why);
}

void ClusterLog::NoteFollowed(std::int64_t revision) {
  {
    MutexLock lock(mutex_);
    revision = std::max(statistics_.revision, revision);
    statistics_.revision = revision;
  }
  if (options_.on_followed) {
    options_.on_followed(revision);
  }
}

bool ClusterLog::IsOwn(const MapLane& lane, const MapChange& change, const absl::StatusOr<MapHead>& head) {
  if (!lane.sending) {
    return false;
  }
  // A deletion that puts nothing has no name. If another server made it, it deleted the same version.
  return change.head ? head.ok() && lane.sending->name == head->append
                     : lane.sending->is_bare && lane.sending->is_sent;
}

void ClusterLog::OnChange(const std::string& id, MapChange change) {
  MapLane& lane = LaneOf(id);
  if (change.revision <= lane.etcd_revision) {
    return;
  }
  if (lane.loading != 0) {
    LetWait(lane, std::move(change));
    return;
  }
  const absl::StatusOr<MapHead> head =
      change.head ? Decode<MapHead>(*change.head) : absl::StatusOr<MapHead>(MapHead());
  if (IsOwn(lane, change, head)) {
    OnLanded(id, change.revision);
    return;
  }
  if (change.is_end) {
    OnFollowed(id, change.revision, kNoMap, store_.FollowDeletion(id, lane.version), false);
    return;
  }
  if (!head.ok()) {
    OnFollowed(id, change.revision, lane.version == kNoMap ? kUnknownVersion : lane.version, head.status(),
               change.record.has_value());
    return;
  }
  if (change.record) {
    Follow(id, change.revision, *head, *change.record);
    return;
  }
  BeginLoading(id, {.revision = change.revision,
                    .after = head->version,
                    .fetch = [this, id, revision = change.revision]() -> absl::StatusOr<Taking> {
                      WAYSTAR_ASSIGN_OR_RETURN(storage::MapState map, Fetch(id, revision));
                      return [this, id, map = std::move(map)]() mutable { return Take(id, std::move(map)); };
                    }});
}

void ClusterLog::OnFollowed(const std::string& id, std::int64_t revision, MapVersion after,
                            const absl::Status& status, bool is_record) {
  MapLane& lane = *lanes_.at(id);
  if (!status.ok()) {
    Break(id, status, after);
  } else if (!is_record) {
    lane.is_broken = false;
  }
  lane.records = is_record ? lane.records + 1 : 0;
  lane.version = after;
  lane.etcd_revision = revision;
  lane.is_behind = false;
  Count(&ClusterLogStatistics::followed);
  Conflict(id);
  Drive(id);
}

void ClusterLog::Follow(const std::string& id, std::int64_t revision, const MapHead& head,
                        const std::string& record) {
  absl::StatusOr<LogRecord> decoded = Decode<LogRecord>(record);
  const auto fetch = [this, id, revision,
                      epoch = head.version.epoch](const LogRecord& of) -> absl::StatusOr<Taking> {
    WAYSTAR_ASSIGN_OR_RETURN(std::vector<core::LoggedCommit> commits, reader_.ReadCommits(id, of, revision));
    return
        [this, id, epoch, commits = std::move(commits)] { return store_.FollowCommits(id, epoch, commits); };
  };
  if (decoded.ok() && decoded->entries.empty()) {
    BeginLoading(id, {.revision = revision,
                      .after = head.version,
                      .is_record = true,
                      .fetch = [fetch, of = *std::move(decoded)] { return fetch(of); }});
    return;
  }
  absl::StatusOr<Taking> taking = decoded.ok() ? fetch(*decoded) : decoded.status();
  OnFollowed(id, revision, head.version, taking.ok() ? (*std::move(taking))() : taking.status(), true);
}

void ClusterLog::BeginLoading(const std::string& id, Loading loading) {
  MapLane& lane = *lanes_.at(id);
  loading.number = ++loads_;
  lane.loading = loading.number;
  lane.is_behind = true;
  ++loading_lanes_;
  Count(&ClusterLogStatistics::lag);
  Load(id, loading);
}

void ClusterLog::Load(const std::string& id, const Loading& loading) {
  loader_.Do([this, id, loading] {
    if (options_.on_load) {
      options_.on_load(id);
    }
    absl::StatusOr<Taking> taking = loading.fetch();
    Post([this, id, loading, taking = std::move(taking)]() mutable {
      OnLoaded(id, loading, std::move(taking));
    });
  });
}

absl::StatusOr<storage::MapState> ClusterLog::Fetch(const std::string& id, std::int64_t revision) const {
  WAYSTAR_ASSIGN_OR_RETURN(const MapBase base, reader_.ReadBase(id, revision));
  WAYSTAR_ASSIGN_OR_RETURN(storage::MapState map, reader_.ReadImage(id, base, revision));
  store_.Prepare(map.snapshot.map, nullptr, core::GridMap::LargeIndexes::kInBackground);
  return map;
}

void ClusterLog::OnLoaded(const std::string& id, const Loading& loading, absl::StatusOr<Taking> taking) {
  MapLane* const found = FindLane(id);
  if (found == nullptr || found->loading != loading.number) {
    return;
  }
  MapLane& lane = *found;
  if (IsTransient(taking.status())) {
    PostAfter(options_.retry_interval, [this, id, loading] {
      if (const MapLane* const again = FindLane(id); again != nullptr && again->loading == loading.number) {
        Load(id, loading);
      }
    });
    return;
  }
  if (lane.has_missed_changes || etcd::FailureOf(taking.status()) == etcd::Failure::kCompacted) {
    ReadAfresh();
    return;
  }
  EndLoading(lane);
  OnFollowed(id, loading.revision, loading.after, taking.ok() ? (*std::move(taking))() : taking.status(),
             loading.is_record);
  while (!lane.changes.empty() && lane.loading == 0) {
    MapChange change = std::move(lane.changes.front());
    lane.changes.pop_front();
    OnChange(id, std::move(change));
  }
  if (lane.changes.empty()) {
    lane.change_bytes = 0;
  }
  ended_.push_back(id);
  NoteAllSeen();
}

void ClusterLog::EndLoading(MapLane& lane) {
  if (lane.loading == 0) {
    return;
  }
  lane.loading = 0;
  --loading_lanes_;
  Count(&ClusterLogStatistics::lag, -1);
}

void ClusterLog::NoteAllSeen() {
  if (!has_gap_ && loading_lanes_ == 0) {
    NoteFollowed(seen_revision_);
    if (const std::optional<TimePoint> heard = newest_.Reach(told_revision_)) {
      NoteHeard(*heard);
    }
  }
}

void ClusterLog::LetWait(MapLane& lane, MapChange change) const {
  lane.change_bytes += change.record ? change.record->size() : 0;
  lane.has_missed_changes |= lane.changes.size() >= options_.max_waiting_changes ||
                             lane.change_bytes > options_.max_waiting_change_bytes;
  if (lane.has_missed_changes) {
    lane.changes.clear();
  } else {
    lane.changes.push_back(std::move(change));
  }
}

void ClusterLog::StopLoading(MapLane& lane) {
  EndLoading(lane);
  lane.changes.clear();
  lane.change_bytes = 0;
  lane.has_missed_changes = false;
}

absl::Status ClusterLog::Take(const std::string& id, storage::MapState map) {
  const MapLane& lane = *lanes_.at(id);
  if (lane.version == kNoMap) {
    return store_.FollowCreation(std::move(map));
  }
  if (lane.version.epoch == map.snapshot.epoch && !lane.is_broken) {
    return store_.FollowImage(std::move(map));
  }
  return store_.FollowReplacement(std::move(map), lane.version);
}

void ClusterLog::ReadAfresh() {
  if (!gone_back_.ok()) {
    return;
  }
  watch_.reset();
  has_gap_ = true;
  for (const auto& [id, lane] : lanes_) {
    StopLoading(*lane);
  }
  const TimePoint asked = std::chrono::steady_clock::now();
  const absl::Status status = [&]() -> absl::Status {
    WAYSTAR_ASSIGN_OR_RETURN(const FleetMaps found, reader_.ReadAll());
    if (found.revision < told_revision_) {
      StopFollowing(GoneBack(told_revision_, found.revision));
      return absl::OkStatus();
    }
    for (const auto& [id, map] : found.maps) {
      LaneOf(id);
    }
    for (const std::string& id : LaneIds()) {
      WAYSTAR_RETURN_IF_ERROR(Renew(id, found));
      ended_.push_back(id);
    }
    has_gap_ = false;
    seen_revision_ = found.revision;
    told_revision_ = found.revision;
    NoteFollowed(found.revision);
    newest_ = NewestKnown();
    NoteHeard(asked);
    BeginWatch(found.revision + 1);
    return absl::OkStatus();
  }();
  if (!status.ok()) {
    SetStatus(NotTaken(status));
    PostAfter(options_.retry_interval, [this] { ReadAfresh(); });
  }
}

absl::Status ClusterLog::Renew(const std::string& id, const FleetMaps& found) {
  MapLane& lane = *lanes_.at(id);
  const auto it = found.maps.find(id);
  const FleetMap* const map = it == found.maps.end() ? nullptr : &it->second;
  if (map != nullptr && map->head_revision <= lane.etcd_revision) {
    return absl::OkStatus();
  }
  const auto end = found.ends.find(id);
  const bool is_named = lane.sending && end != found.ends.end() && end->second == lane.sending->name;
  if (lane.sending && map == nullptr && (is_named || (lane.sending->is_bare && lane.sending->is_sent))) {
    Land(id, found.revision);
  } else if (lane.sending && map != nullptr && map->head.append == lane.sending->name) {
    // Counts as committed only if it continues the store's version, or begins the map.
    const bool is_begin = lane.waiting.front().kind != Append::Kind::kCommits;
    if (is_begin || lane.waiting.front().before == lane.version) {
      Land(id, map->head_revision);
    }
  }
  absl::Status status;
  MapVersion after = kNoMap;
  if (map == nullptr) {
    status = lane.version == kNoMap ? absl::OkStatus() : store_.FollowDeletion(id, lane.version);
  } else {
    after = map->head.version;
    status = lane.version == after && map->damage.ok() ? absl::OkStatus() : CatchUp(id, *map, found.revision);
  }
  if (IsTransient(status) || etcd::FailureOf(status) == etcd::Failure::kCompacted) {
    return status;
  }
  if (!status.ok()) {
    Break(id, status, after);
  }
  lane.version = after;
  lane.etcd_revision = map == nullptr ? found.revision : map->head_revision;
  lane.records = map == nullptr ? 0 : map->records.size();
  lane.is_behind = false;
  if (lane.sending && lane.sending->is_sent) {
    // It may have been committed, but others have deleted the keys that would prove it.
    Answer(id, NotTaken(absl::UnavailableError(
                   "the outcome of the change is unknown: the keys that would show it are deleted")));
  } else {
    Conflict(id);
  }
  Drive(id);
  return absl::OkStatus();
}

absl::Status ClusterLog::CatchUp(const std::string& id, const FleetMap& map, std::int64_t revision) {
  WAYSTAR_RETURN_IF_ERROR(map.damage);
  MapLane& lane = *lanes_.at(id);
  const bool has_all = lane.version.epoch == map.head.version.epoch &&
                       lane.version.revision >= map.base.version.revision && !lane.is_broken;
  if (!has_all) {
    WAYSTAR_ASSIGN_OR_RETURN(storage::MapState image, reader_.ReadImage(id, map.base, revision));
    WAYSTAR_RETURN_IF_ERROR(Take(id, std::move(image)));
    lane.version = map.base.version;
    lane.is_broken = false;
  }
  for (const auto& [last, record] : map.records) {
    if (last <= lane.version.revision) {
      continue;
    }
    const MapVersion after{.epoch = lane.version.epoch, .revision = last};
    if (lane.sending && lane.sending->name == record.append && lane.waiting.front().before == lane.version) {
      Land(id, lane.etcd_revision);
      continue;
    }
    WAYSTAR_ASSIGN_OR_RETURN(std::vector<core::LoggedCommit> commits,
                             reader_.ReadCommits(id, record, revision));
    DropUpTo(lane.version.revision, commits);
    WAYSTAR_RETURN_IF_ERROR(store_.FollowCommits(id, after.epoch, commits));
    lane.version = after;
  }
  if (!IsAt(id, map.head)) {
    return absl::DataLossError(absl::StrCat("map \"", id, "\" does not come out as its head in etcd says"));
  }
  return absl::OkStatus();
}

bool ClusterLog::IsAt(const std::string& id, const MapHead& head) const {
  if (const std::optional<MapVersion> unloaded = store_.UnloadedVersion(id)) {
    return *unloaded == head.version;
  }
  if (const absl::StatusOr<core::PinnedSnapshot> latest = store_.Pin(id); latest.ok()) {
    return (*latest)->version() == head.version && (*latest)->digest() == head.digest;
  }
  // The map may have been unloaded since the first check.
  return store_.UnloadedVersion(id) == head.version;
}

void ClusterLog::Break(const std::string& id, const absl::Status& why, MapVersion after) {
  MapLane& lane = *lanes_.at(id);
  if (lane.version != kNoMap && !lane.is_broken) {
    // Fails if the map is gone already: the change that failed may be its deletion.
    static_cast<void>(store_.FollowDeletion(id, lane.version));
  }
  lane.is_broken = true;
  if (after != kNoMap) {
    store_.AddDamaged(id, after);
  }
  Count(&ClusterLogStatistics::broken);
  if (options_.on_broken) {
    options_.on_broken(id, why);
  }
}

void ClusterLog::SetStatus(const absl::Status& status) {
  bool was_ok = false;
  {
    MutexLock lock(mutex_);
    // Report a reason only once, whatever its message.
    if (statistics_.has_gone_back || ErrorReasonOf(statistics_.status) == ErrorReasonOf(status)) {
      return;
    }
    was_ok = statistics_.status.ok();
    statistics_.status = status;
    refuses_ = !status.ok();
  }
  if (options_.on_status) {
    options_.on_status(status);
  }
  if (was_ok) {
    ProbeLater();
  }
}

void ClusterLog::Listen() {
  PostAfter(options_.quiet_timeout, [this] {
    const auto patience = absl::ToChronoNanoseconds(options_.quiet_timeout);
    if (std::chrono::steady_clock::now() - Statistics().heard > patience) {
      Probe();
    }
    Listen();
  });
}

void ClusterLog::SendSlowOnesAgain() {
  PostAfter(options_.resend_interval / 2, [this] {
    const TimePoint late =
        std::chrono::steady_clock::now() - absl::ToChronoNanoseconds(options_.resend_interval);
    std::vector<std::string> slow;
    for (const auto& [id, lane] : lanes_) {
      if (lane->sending && lane->sending->is_sent && lane->sending->sent_at < late) {
        // One of the two may still be applied after the other has failed.
        lane->sending->is_in_doubt = true;
        slow.push_back(id);
      }
    }
    for (const std::string& id : slow) {
      Send(id);
    }
    SendSlowOnesAgain();
  });
}

void ClusterLog::ProbeLater() {
  PostAfter(options_.retry_interval, [this] { Probe(); });
}

void ClusterLog::Probe() {
  if (is_probing_) {
    return;
  }
  is_probing_ = true;
  client_.Commit({.then = {etcd::Put{keys_.Probe(), ""}}},
                 [this](const absl::StatusOr<etcd::TxnResult>& result) {
                   Post([this, status = result.status()] {
                     is_probing_ = false;
                     if (!status.ok() && !Statistics().status.ok()) {
                       ProbeLater();
                     }
                     SetStatus(status.ok() ? absl::OkStatus() : NotTaken(status));
                   });
                 });
}

}  // namespace waystar::cluster
