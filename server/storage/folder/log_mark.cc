#include "server/storage/folder/log_mark.h"

#include <cstddef>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "server/storage/folder/checksum.h"

namespace waystar::storage {
namespace {

constexpr absl::string_view kTitle = "waystar-mark-1";
constexpr absl::string_view kNoRun = "-";
constexpr int kTextBytes = 151;
constexpr std::size_t kMarkBytes = kTextBytes + 9;

// Fields: title, file, end, durability, ended or open, run.
constexpr std::size_t kFields = 6;

std::string ChecksumOf(absl::string_view text) { return absl::StrFormat("%08x", Crc32c(text)); }

}  // namespace

std::string EncodeMark(const LogMark& mark) {
  const std::string run = mark.run.empty() || mark.run.size() > 64 ? std::string(kNoRun) : mark.run;
  const std::string fields =
      absl::StrCat(kTitle, " ", mark.file, " ", mark.end, " ", mark.is_relaxed ? "relaxed" : "sync", " ",
                   mark.is_ended ? "ended" : "open", " ", run);
  const std::string text = absl::StrFormat("%-*s", kTextBytes, fields);
  return absl::StrCat(text, ChecksumOf(text), "\n");
}

std::optional<LogMark> DecodeMark(absl::string_view bytes) {
  if (bytes.size() != kMarkBytes) {
    return std::nullopt;
  }
  const absl::string_view text = bytes.substr(0, kTextBytes);
  if (bytes.substr(kTextBytes) != absl::StrCat(ChecksumOf(text), "\n")) {
    return std::nullopt;
  }
  const std::vector<absl::string_view> fields = absl::StrSplit(absl::StripTrailingAsciiWhitespace(text), ' ');
  LogMark mark;
  if (fields.size() != kFields || fields[0] != kTitle || !absl::SimpleAtoi(fields[1], &mark.file) ||
      !absl::SimpleAtoi(fields[2], &mark.end)) {
    return std::nullopt;
  }
  mark.is_relaxed = fields[3] == "relaxed";
  mark.is_ended = fields[4] == "ended";
  if (fields[5] != kNoRun) {
    mark.run = std::string(fields[5]);
  }
  return mark;
}

}  // namespace waystar::storage
