#include "server/storage/folder/log_entry.h"

#include <utility>
#include <variant>

#include "server/base/status_macros.h"
#include "server/core/codec/map_image.h"
#include "server/core/codec/map_values.h"
#include "server/core/codec/value_lists.h"
#include "server/core/codec/value_writer.h"
#include "server/core/store/map_id.h"
#include "server/core/store/update_batch.h"
#include "server/storage/folder/edit_code.h"

namespace waystar::storage {
namespace {

// Reader that returns views into the input.
class EntryReader final : public core::ValueReader {
 public:
  using core::ValueReader::ValueReader;

  absl::string_view View() {
    const std::uint64_t count = Number(bytes_.size() - read_);
    // Number() has consumed some of the bytes it was checked against.
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

core::ValueWriter BeginEntry(LogEntry::Kind kind, absl::string_view id, std::uint64_t epoch,
                             std::uint64_t first_revision, std::uint64_t revision) {
  core::ValueWriter to;
  core::WriteEnum(kind, to);
  to.PutText(id);
  to.PutNumber(epoch);
  to.PutNumber(first_revision);
  to.PutNumber(revision);
  return to;
}

// Writes the input of DecodeCreation.
void PutCreation(const core::MapSnapshot& first, const core::CreationRequest& request,
                 core::ValueWriter& to) {
  to.PutText(request.request_id);
  if (!request.request_id.empty()) {
    WriteFingerprint(request.fingerprint, to);
  }
  core::WriteTime(first.create_time, to);
  to.PutBytes(std::visit([](const auto& map) { return core::EncodeImage(map); }, first.map));
}

absl::StatusOr<LogEntry> DecodeEntry(absl::string_view bytes) {
  EntryReader from(bytes);
  LogEntry entry;
  entry.kind = core::ReadEnum(from, LogEntry::Kind::kReplacement);
  entry.map = from.Text(core::kMaxMapIdBytes);
  entry.epoch = from.Number(core::kAnyNumber);
  entry.first_revision = from.Number(core::kAnyNumber);
  entry.revision = from.Number(core::kAnyNumber);
  if (entry.kind == LogEntry::Kind::kReplacement) {
    entry.replaced.epoch = from.Number(core::kAnyNumber);
    entry.replaced.revision = from.Number(core::kAnyNumber);
  }
  entry.body = from.Rest();
  WAYSTAR_RETURN_IF_ERROR(from.status());
  return entry;
}

}  // namespace

std::string EncodeStart(const LogStart& start) {
  core::ValueWriter to;
  to.PutNumber(start.number);
  to.PutNumber(start.previous_end);
  core::WriteList(start.maps, to, [&](const LiveMap& map) {
    to.PutText(map.id);
    to.PutNumber(map.epoch);
    to.PutNumber(map.revision);
  });
  return std::move(to).TakeBytes();
}

absl::StatusOr<LogStart> DecodeStart(absl::string_view payload) {
  EntryReader from(payload);
  LogStart start;
  start.number = from.Number(core::kAnyNumber);
  start.previous_end = from.Number(core::kAnyNumber);
  start.maps = core::ReadList(from, core::kAnyCount, [&] {
    LiveMap map;
    map.id = from.Text(core::kMaxMapIdBytes);
    map.epoch = from.Number(core::kAnyNumber);
    map.revision = from.Number(core::kAnyNumber);
    return map;
  });
  WAYSTAR_RETURN_IF_ERROR(from.Finish());
  return start;
}

std::uint64_t WorkOfCommit(const core::ChangeSummary& summary) {
  // Cost of finding, checking and digesting the changes of a small batch.
  constexpr std::uint64_t kPerEntry = 512;
  return kPerEntry + static_cast<std::uint64_t>(summary.work);
}

std::string EncodeCreation(const core::MapSnapshot& first, const core::CreationRequest& request) {
  core::ValueWriter to =
      BeginEntry(LogEntry::Kind::kCreation, first.id, first.epoch, first.revision, first.revision);
  PutCreation(first, request, to);
  return std::move(to).TakeBytes();
}

std::string EncodeCommits(absl::string_view id, std::uint64_t epoch,
                          absl::Span<const core::LoggedCommit> commits) {
  core::ValueWriter to = BeginEntry(LogEntry::Kind::kCommits, id, epoch, commits.front().commit->revision,
                                    commits.back().commit->revision);
  for (const core::LoggedCommit& commit : commits) {
    WriteCommit(commit, to);
  }
  return std::move(to).TakeBytes();
}

std::string EncodeDeletion(absl::string_view id, core::MapVersion last) {
  return BeginEntry(LogEntry::Kind::kDeletion, id, last.epoch, last.revision, last.revision).TakeBytes();
}

std::string EncodeReplacement(const core::MapSnapshot& first, core::MapVersion replaced) {
  core::ValueWriter to =
      BeginEntry(LogEntry::Kind::kReplacement, first.id, first.epoch, first.revision, first.revision);
  to.PutNumber(replaced.epoch);
  to.PutNumber(replaced.revision);
  PutCreation(first, {}, to);
  return std::move(to).TakeBytes();
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
  creation.request.request_id = from.Text(core::kMaxRequestIdBytes);
  if (!creation.request.request_id.empty()) {
    creation.request.fingerprint = ReadFingerprint(from);
  }
  creation.create_time = core::ReadTime(from);
  creation.image = from.Rest();
  WAYSTAR_RETURN_IF_ERROR(from.status());
  return creation;
}

absl::StatusOr<std::vector<core::LoggedCommit>> DecodeCommits(absl::string_view body) {
  EntryReader from(body);
  std::vector<core::LoggedCommit> commits;
  while (from.ok() && !from.IsAtEnd()) {
    commits.push_back(ReadCommit(from));
  }
  WAYSTAR_RETURN_IF_ERROR(from.status());
  return commits;
}

}  // namespace waystar::storage
