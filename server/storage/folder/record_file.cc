#include "server/storage/folder/record_file.h"

#include <isa-l/crc.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/base/error.h"

namespace waystar::storage {
namespace {

constexpr std::uint32_t kVersion = 1;
constexpr absl::string_view kTemporarySuffix = ".new";

constexpr std::size_t kKindBytes = 8;
constexpr std::size_t kFileHeadBytes = kKindBytes + 4 + 8 + 4;
constexpr std::size_t kRecordHeadBytes = 4 + 8 + 4 + 4;

absl::string_view NameOf(FileKind kind) {
  return kind == FileKind::kLog ? absl::string_view("\x89WAYLOG\n", kKindBytes)
                                : absl::string_view("\x89WAYIMG\n", kKindBytes);
}

template <typename Number>
void Put(Number number, std::string& to) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    to.push_back(static_cast<char>(number >> (8 * i)));
  }
}

template <typename Number>
Number Get(absl::string_view from, std::size_t offset) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    number |= static_cast<Number>(static_cast<unsigned char>(from[offset + i])) << (8 * i);
  }
  return number;
}

struct RecordHead {
  std::uint32_t length = 0;
  std::uint64_t synced = 0;
  std::uint32_t payload_crc = 0;
};

std::string Encode(const RecordHead& head, std::uint64_t number, std::uint64_t offset) {
  std::string bytes;
  Put(head.length, bytes);
  Put(head.synced, bytes);
  Put(head.payload_crc, bytes);
  std::string place;
  Put(number, place);
  Put(offset, place);
  Put(Crc32c(place, Crc32c(bytes)), bytes);
  return bytes;
}

class Reader {
 public:
  Reader(absl::string_view path, absl::string_view bytes) : path_(path), bytes_(bytes) {}

  absl::Status ReadHead(FileKind kind) {
    if (bytes_.size() < kFileHeadBytes || !absl::StartsWith(bytes_, NameOf(kind)) ||
        Get<std::uint32_t>(bytes_, kFileHeadBytes - 4) != Crc32c(bytes_.substr(0, kFileHeadBytes - 4))) {
      return DamageAt(0, "this is not the head of such a file");
    }
    const auto version = Get<std::uint32_t>(bytes_, kKindBytes);
    if (version != kVersion) {
      return absl::FailedPreconditionError(absl::StrCat(path_, " is of version ", version,
                                                        ", and this server knows only ", kVersion,
                                                        ": it was written by another release"));
    }
    number_ = Get<std::uint64_t>(bytes_, kKindBytes + 4);
    return absl::OkStatus();
  }

  // Returns the record at an offset, and sets its head; nullopt if none is valid.
  std::optional<Record> RecordAt(std::uint64_t offset, std::uint64_t end, RecordHead& head) const {
    if (offset > end || end - offset < kRecordHeadBytes) {
      return std::nullopt;
    }
    head = {.length = Get<std::uint32_t>(bytes_, offset),
            .synced = Get<std::uint64_t>(bytes_, offset + 4),
            .payload_crc = Get<std::uint32_t>(bytes_, offset + 12)};
    const std::uint64_t begin = offset + kRecordHeadBytes;
    if (head.length > end - begin ||
        Encode(head, number_, offset) != bytes_.substr(offset, kRecordHeadBytes)) {
      return std::nullopt;
    }
    const absl::string_view payload = bytes_.substr(begin, head.length);
    if (Crc32c(payload) != head.payload_crc) {
      return std::nullopt;
    }
    return Record{.offset = offset, .payload = payload};
  }

  // Returns true if a later record says that the bytes at `offset` were synced.
  bool WasSynced(std::uint64_t offset) const {
    for (std::uint64_t later = offset + 1; later + kRecordHeadBytes <= bytes_.size(); ++later) {
      RecordHead head;
      if (Get<std::uint64_t>(bytes_, later + 4) > offset && Get<std::uint64_t>(bytes_, later + 4) <= later &&
          RecordAt(later, bytes_.size(), head)) {
        return true;
      }
    }
    return false;
  }

  absl::Status DamageAt(std::uint64_t offset, absl::string_view what) const {
    return absl::DataLossError(absl::StrCat(path_, " is damaged at byte ", offset, ": ", what));
  }

 private:
  const absl::string_view path_;
  const absl::string_view bytes_;
  std::uint64_t number_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RecordWriter>> RecordWriter::Create(Folder& folder, absl::string_view name,
                                                                   FileKind kind, std::uint64_t number) {
  auto writer = std::unique_ptr<RecordWriter>(new RecordWriter(folder, name, number));
  WAYSTAR_ASSIGN_OR_RETURN(writer->file_, folder.Create(writer->current_name_));
  std::string head(NameOf(kind));
  Put(kVersion, head);
  Put(number, head);
  Put(Crc32c(head), head);
  WAYSTAR_RETURN_IF_ERROR(writer->Named(writer->file_->Append(head)));
  writer->size_ = head.size();
  return writer;
}

absl::Status RecordWriter::Append(absl::string_view payload) {
  const RecordHead head{.length = static_cast<std::uint32_t>(payload.size()),
                        .synced = synced_,
                        .payload_crc = Crc32c(payload)};
  // Head and payload go into one write.
  buffer_ = Encode(head, number_, size_);
  buffer_.append(payload.data(), payload.size());
  size_ += buffer_.size();
  return Named(file_->Append(buffer_));
}

absl::Status RecordWriter::Sync() {
  WAYSTAR_RETURN_IF_ERROR(Named(file_->Sync()));
  synced_ = size_;
  return absl::OkStatus();
}

absl::Status RecordWriter::Publish() {
  WAYSTAR_RETURN_IF_ERROR(Sync());
  WAYSTAR_RETURN_IF_ERROR(folder_.Rename(current_name_, name_));
  current_name_ = name_;
  return folder_.SyncNames();
}

absl::Status RecordWriter::CheckIsThere() const { return Named(file_->CheckIs(current_name_)); }

absl::Status RecordWriter::Named(const absl::Status& status) const {
  return status.ok() ? status
                     : absl::Status(status.code(),
                                    absl::StrCat(folder_.PathOf(current_name_), ": ", status.message()));
}

std::string TemporaryName(absl::string_view name) { return absl::StrCat(name, kTemporarySuffix); }

bool IsTemporary(absl::string_view name) { return absl::EndsWith(name, kTemporarySuffix); }

absl::string_view NameOfTemporary(absl::string_view name) {
  return absl::StripSuffix(name, kTemporarySuffix);
}

absl::Status WriteAsAWhole(Folder& folder, absl::string_view name, absl::FunctionRef<absl::Status()> write) {
  absl::Status status = write();
  if (status.ok()) {
    status = folder.Rename(TemporaryName(name), name);
  }
  if (!status.ok()) {
    static_cast<void>(folder.Remove(TemporaryName(name)));
  }
  return status;
}

absl::Status WriteWholeFile(Folder& folder, absl::string_view name, absl::string_view bytes) {
  return WriteAsAWhole(folder, name, [&]() -> absl::Status {
    WAYSTAR_ASSIGN_OR_RETURN(const std::unique_ptr<AppendFile> file, folder.Create(TemporaryName(name)));
    WAYSTAR_RETURN_IF_ERROR(file->Append(bytes));
    return file->Sync();
  });
}

absl::StatusOr<RecordFile> ReadRecords(absl::string_view path, absl::string_view bytes, FileKind kind,
                                       std::optional<std::uint64_t> end) {
  Reader reader(path, bytes);
  WAYSTAR_RETURN_IF_ERROR(reader.ReadHead(kind));
  if (end && *end > bytes.size()) {
    return reader.DamageAt(bytes.size(), absl::StrCat("it ends here, and had ", *end, " bytes"));
  }
  const std::uint64_t limit = end.value_or(bytes.size());
  RecordFile file;
  file.end = kFileHeadBytes;
  while (file.end < limit) {
    RecordHead head;
    const std::optional<Record> record = reader.RecordAt(file.end, limit, head);
    if (!record) {
      if (end || reader.WasSynced(file.end)) {
        return reader.DamageAt(file.end, "the record here is not what was written");
      }
      file.torn_bytes = limit - file.end;
      break;
    }
    file.records.push_back(*record);
    file.synced = head.synced;
    file.end += kRecordHeadBytes + head.length;
  }
  return file;
}

namespace {

constexpr std::size_t kChecksumDigits = 8;

std::string DigitsOf(absl::string_view bytes) {
  return absl::StrCat(absl::Hex(Crc32c(bytes), absl::kZeroPad8));
}

}  // namespace

std::uint32_t Crc32c(absl::string_view bytes, std::uint32_t before) {
  // ISA-L takes lengths of type int.
  constexpr std::size_t kMaxPart = std::size_t{1} << 30;
  std::uint32_t crc = ~before;
  while (!bytes.empty()) {
    const absl::string_view part = bytes.substr(0, kMaxPart);
    // crc32_iscsi does not write through its pointer.
    auto* const data = reinterpret_cast<unsigned char*>(const_cast<char*>(part.data()));
    crc = crc32_iscsi(data, static_cast<int>(part.size()), crc);
    bytes.remove_prefix(part.size());
  }
  return ~crc;
}

std::string WithChecksum(absl::string_view bytes) { return absl::StrCat(DigitsOf(bytes), bytes); }

std::optional<absl::string_view> WithoutChecksum(absl::string_view bytes) {
  const absl::string_view digits = bytes.substr(0, kChecksumDigits);
  bytes.remove_prefix(digits.size());
  return digits == DigitsOf(bytes) ? std::optional(bytes) : std::nullopt;
}

}  // namespace waystar::storage
