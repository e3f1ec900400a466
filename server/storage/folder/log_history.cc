#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/storage/folder/commit_log.h"
#include "server/storage/folder/folder_reader.h"
#include "server/storage/folder/image_file.h"
#include "server/storage/folder/log_entry.h"
#include "server/storage/folder/record_file.h"

namespace waystar::storage {
namespace {

// Returns the longest run of consecutive numbers that ends with the last file.
std::vector<std::uint64_t> NumbersOf(const std::vector<std::string>& names) {
  std::vector<std::uint64_t> numbers;
  for (const std::string& name : names) {
    if (const std::optional<std::uint64_t> number = LogFileNumber(name)) {
      numbers.push_back(*number);
    }
  }
  std::ranges::sort(numbers);
  std::size_t first = numbers.empty() ? 0 : numbers.size() - 1;
  while (first > 0 && numbers[first - 1] + 1 == numbers[first]) {
    --first;
  }
  numbers.erase(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(first));
  return numbers;
}

// Returns DATA_LOSS if there are images: the folder is then not new but has lost its log.
absl::Status CheckIsNew(const Folder& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (ParseImageFileName(name)) {
      return absl::DataLossError(
          absl::StrCat("the log of ", folder.PathOf(""), " is missing: there is no file ", LogFileName(1),
                       " or a later one, but there are images of maps, such as ", name));
    }
  }
  return absl::OkStatus();
}

class HistoryReader {
 public:
  explicit HistoryReader(std::vector<LogFile> files) { history_.files = std::move(files); }

  absl::StatusOr<LogHistory> Read() && {
    WAYSTAR_RETURN_IF_ERROR(ReadRecordsOfFiles());
    for (std::size_t i = 0; i < history_.files.size(); ++i) {
      WAYSTAR_RETURN_IF_ERROR(Follow(i));
    }
    if (!history_.files.empty()) {
      history_.next.number = history_.files.back().number + 1;
      history_.next.previous_end = records_.back().end;
      history_.torn_bytes = records_.back().torn_bytes;
      history_.end = records_.back().end;
      history_.synced = records_.back().synced;
    }
    history_.next.maps = maps_.All();
    return std::move(history_);
  }

 private:
  // Reads backwards, because each file says how much of the previous one counts.
  absl::Status ReadRecordsOfFiles() {
    records_.resize(history_.files.size());
    starts_.resize(history_.files.size());
    std::optional<std::uint64_t> end;
    for (std::size_t i = history_.files.size(); i-- > 0;) {
      const LogFile& file = history_.files[i];
      WAYSTAR_ASSIGN_OR_RETURN(records_[i], ReadRecords(file.path, file.bytes, FileKind::kLog, end));
      if (records_[i].records.empty()) {
        return Damage(file.path, records_[i].end, "the log's first record is not there");
      }
      const Record& first = records_[i].records.front();
      absl::StatusOr<LogStart> start = DecodeStart(first.payload);
      if (!start.ok()) {
        return Damage(file.path, first.offset, start.status().message());
      }
      if (start->number != file.number) {
        return Damage(file.path, first.offset, absl::StrCat("this was file number ", start->number));
      }
      end = start->previous_end;
      starts_[i] = *std::move(start);
    }
    return absl::OkStatus();
  }

  absl::Status Follow(std::size_t i) {
    const LogFile& file = history_.files[i];
    const std::vector<Record>& records = records_[i].records;
    if (i > 0 && !GoesOn(starts_[i])) {
      return Damage(file.path, records.front().offset, "it does not go on where the file before it ended");
    }
    Begin(starts_[i]);
    for (std::size_t r = 1; r < records.size(); ++r) {
      absl::StatusOr<std::vector<LogEntry>> entries = DecodeEntries(records[r].payload);
      if (!entries.ok()) {
        return Damage(file.path, records[r].offset, entries.status().message());
      }
      for (LogEntry& entry : *entries) {
        if (const auto followed = maps_.Follow(entry); !followed.ok()) {
          return Damage(file.path, records[r].offset, followed.status().message());
        }
        TakeIn({.entry = std::move(entry), .file = i, .offset = records[r].offset});
      }
    }
    return absl::OkStatus();
  }

  // Returns true if a file starts with the current maps and revisions, whatever their epochs.
  bool GoesOn(const LogStart& start) const {
    return std::ranges::equal(maps_.All(), start.maps, [](const LiveMap& before, const LiveMap& after) {
      return before.id == after.id && before.revision == after.revision;
    });
  }

  void Begin(const LogStart& start) {
    maps_ = LiveMaps(start);
    for (const LiveMap& map : start.maps) {
      Epochs& epochs = history_.epochs[map.id];
      if (epochs.empty() || epochs.back().epoch != map.epoch) {
        epochs.push_back({.epoch = map.epoch, .revision = map.revision});
      }
    }
  }

  void TakeIn(LocatedEntry located) {
    const LogEntry& entry = located.entry;
    if (entry.kind == LogEntry::Kind::kDeletion || entry.kind == LogEntry::Kind::kReplacement) {
      EndMap(entry.map);
    }
    if (BeginsMap(entry)) {
      history_.epochs[entry.map].push_back({.epoch = entry.epoch});
    }
    if (entry.kind != LogEntry::Kind::kDeletion) {
      history_.epochs[entry.map].back().revision = entry.revision;
      history_.entries[entry.map].push_back(std::move(located));
    }
  }

  void EndMap(const std::string& map) {
    for (const core::MapVersion& version : history_.epochs[map]) {
      history_.ended_epochs.insert(version.epoch);
    }
    history_.epochs.erase(map);
    history_.entries.erase(map);
  }

  LogHistory history_;
  std::vector<RecordFile> records_;
  std::vector<LogStart> starts_;
  LiveMaps maps_;
};

}  // namespace

bool IsKnown(const core::MapVersion& version, const Epochs& epochs) {
  return std::ranges::any_of(epochs, [&](const core::MapVersion& known) {
    return known.epoch == version.epoch && version.revision <= known.revision;
  });
}

absl::StatusOr<LogHistory> ReadLogFiles(const Folder& folder, const std::vector<std::string>& names,
                                        std::size_t last_bytes) {
  const std::vector<std::uint64_t> numbers = NumbersOf(names);
  if (numbers.empty()) {
    WAYSTAR_RETURN_IF_ERROR(CheckIsNew(folder, names));
  }
  std::vector<LogFile> files;
  for (const std::uint64_t number : numbers) {
    const std::string name = LogFileName(number);
    WAYSTAR_ASSIGN_OR_RETURN(std::string bytes, folder.Read(name));
    if (number == numbers.back() && bytes.size() > last_bytes) {
      bytes.resize(last_bytes);
    }
    files.push_back({.number = number, .path = folder.PathOf(name), .bytes = std::move(bytes)});
  }
  return HistoryReader(std::move(files)).Read();
}

}  // namespace waystar::storage
