#include "server/storage/folder/log_entry.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/codec/map_image.h"
#include "server/storage/folder/commit_fields.h"

namespace waystar::storage {

void Fields(core::Is<LiveMap> auto& map, const auto& visit) {
  visit(core::MapIdField(map.id), map.epoch, map.revision);
}

void Fields(core::Is<LogStart> auto& start, const auto& visit) {
  visit(start.number, start.previous_end, start.maps);
}

// Fields of an entry before its body.
void Fields(core::Is<LogEntry> auto& entry, const auto& visit) {
  visit(core::AtMost(entry.kind, LogEntry::Kind::kReplacement), core::MapIdField(entry.map), entry.epoch,
        entry.first_revision, entry.revision);
  if (entry.kind == LogEntry::Kind::kReplacement) {
    visit(entry.replaced);
  }
}

namespace {

// Reader that returns views into the input.
class EntryReader final : public core::ValueReader {
 public:
  using core::ValueReader::ValueReader;

  absl::string_view View() {
    const std::uint64_t count = Number(bytes_.size() - read_);
    // Number() has consumed some of the bytes that bounded the count.
    if (count > bytes_.size() - read_) {
      Fail("it ends too early");
      return {};
    }
    const absl::string_view view = bytes_.substr(read_, count);
    read_ += count;
    return view;
  }

  absl::string_view Rest() {
    const absl::string_view rest = ok() ? bytes_.substr(read_) : absl::string_view();
    read_ = bytes_.size();
    return rest;
  }
};

// Fields of a creation before its image.
void CreationFields(auto& request, auto& create_time, const auto& visit) {
  visit(core::AtMost(request.request_id, core::kMaxRequestIdBytes));
  if (!request.request_id.empty()) {
    visit(request.fingerprint);
  }
  visit(create_time);
}

EncodedEntry EncodeFirst(LogEntry::Kind kind, const core::MapSnapshot& first, core::MapVersion replaced,
                         const core::CreationRequest& request) {
  LogEntry entry{.kind = kind,
                 .map = first.id,
                 .epoch = first.epoch,
                 .first_revision = first.revision,
                 .revision = first.revision,
                 .replaced = replaced};
  core::ValueWriter to;
  core::WriteValue(entry, to);
  CreationFields(request, first.create_time, core::FieldWriter(to));
  to.PutBytes(core::EncodeImage(first.map));
  return {std::move(entry), std::move(to).TakeBytes()};
}

absl::StatusOr<LogEntry> DecodeEntry(absl::string_view bytes) {
  EntryReader from(bytes);
  auto entry = core::ReadValue<LogEntry>(from);
  entry.body = from.Rest();
  WAYSTAR_RETURN_IF_ERROR(from.status());
  return entry;
}

absl::Status DoesNotFollow(const LogEntry& entry, const LiveMap* map) {
  return absl::FailedPreconditionError(
      map == nullptr ? absl::StrCat("there is no map \"", entry.map, "\" of epoch ", entry.epoch)
                     : absl::StrCat("map \"", entry.map, "\" is of epoch ", map->epoch, " at revision ",
                                    map->revision, ", and revision ", entry.revision, " of epoch ",
                                    entry.epoch, " does not follow that"));
}

}  // namespace

std::string EncodeStart(const LogStart& start) { return core::Encoded(start); }

absl::StatusOr<LogStart> DecodeStart(absl::string_view payload) { return core::Decoded<LogStart>(payload); }

std::uint64_t WorkOfCommit(const core::ChangeSummary& summary) {
  // Cost of finding, checking and digesting the changes of a small batch.
  constexpr std::uint64_t kPerEntry = 512;
  return kPerEntry + static_cast<std::uint64_t>(summary.work);
}

EncodedEntry EncodeCreation(const core::MapSnapshot& first, const core::CreationRequest& request) {
  return EncodeFirst(LogEntry::Kind::kCreation, first, {}, request);
}

EncodedEntry EncodeReplacement(const core::MapSnapshot& first, core::MapVersion replaced) {
  return EncodeFirst(LogEntry::Kind::kReplacement, first, replaced, {});
}

EncodedEntry EncodeCommits(absl::string_view id, std::uint64_t epoch,
                           absl::Span<const core::LoggedCommit> commits) {
  LogEntry entry{.kind = LogEntry::Kind::kCommits,
                 .map = std::string(id),
                 .epoch = epoch,
                 .first_revision = commits.front().commit->revision,
                 .revision = commits.back().commit->revision};
  core::ValueWriter to;
  core::WriteValue(entry, to);
  for (const core::LoggedCommit& commit : commits) {
    core::WriteValue(commit, to);
    entry.work += WorkOfCommit(commit.commit->summary);
  }
  return {std::move(entry), std::move(to).TakeBytes()};
}

EncodedEntry EncodeDeletion(absl::string_view id, core::MapVersion last) {
  LogEntry entry{.kind = LogEntry::Kind::kDeletion,
                 .map = std::string(id),
                 .epoch = last.epoch,
                 .first_revision = last.revision,
                 .revision = last.revision};
  std::string bytes = core::Encoded(entry);
  return {std::move(entry), std::move(bytes)};
}

void AddEntry(absl::string_view entry, std::string& record) {
  core::ValueWriter length;
  length.PutNumber(entry.size());
  record += std::move(length).TakeBytes();
  record.append(entry.data(), entry.size());
}

absl::StatusOr<std::vector<LogEntry>> DecodeEntries(absl::string_view record) {
  EntryReader from(record);
  std::vector<LogEntry> entries;
  while (from.ok() && !from.IsAtEnd()) {
    const absl::string_view bytes = from.View();
    WAYSTAR_RETURN_IF_ERROR(from.status());
    WAYSTAR_ASSIGN_OR_RETURN(entries.emplace_back(), DecodeEntry(bytes));
  }
  return entries;
}

absl::StatusOr<Creation> DecodeCreation(const LogEntry& entry) {
  EntryReader from(entry.body);
  Creation creation;
  CreationFields(creation.request, creation.create_time, core::FieldReader(from));
  creation.image = from.Rest();
  WAYSTAR_RETURN_IF_ERROR(from.status());
  return creation;
}

absl::StatusOr<std::vector<core::LoggedCommit>> DecodeCommits(absl::string_view body) {
  EntryReader from(body);
  std::vector<core::LoggedCommit> commits;
  while (from.ok() && !from.IsAtEnd()) {
    commits.push_back(core::ReadValue<core::LoggedCommit>(from));
  }
  WAYSTAR_RETURN_IF_ERROR(from.status());
  return commits;
}

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
