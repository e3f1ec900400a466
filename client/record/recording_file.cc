#include "client/record/recording_file.h"

#include <google/protobuf/util/delimited_message_util.h>

#include <utility>

#include "absl/strings/str_cat.h"

namespace waystar::record {
namespace {

constexpr char kMagic[] = "waystar recording";
constexpr int kVersion = 3;

}  // namespace

absl::StatusOr<std::unique_ptr<RecordingWriter>> RecordingWriter::Create(const std::string& path,
                                                                         const v1::RecordingHeader& header) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  v1::RecordingHeader whole = header;
  whole.set_magic(kMagic);
  whole.set_version(kVersion);
  if (!file || !google::protobuf::util::SerializeDelimitedToOstream(whole, &file)) {
    return absl::NotFoundError(absl::StrCat("cannot write to ", path));
  }
  return std::unique_ptr<RecordingWriter>(new RecordingWriter(std::move(file)));
}

void RecordingWriter::Write(const v1::RecordedEvent& event) {
  const std::lock_guard lock(mutex_);
  google::protobuf::util::SerializeDelimitedToOstream(event, &file_);
}

void RecordingWriter::Flush() {
  const std::lock_guard lock(mutex_);
  file_.flush();
}

absl::Status RecordingWriter::Close() {
  const std::lock_guard lock(mutex_);
  file_.close();
  return file_ ? absl::OkStatus() : absl::DataLossError("not all of the recording could be written");
}

absl::StatusOr<std::unique_ptr<RecordingReader>> RecordingReader::Open(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::NotFoundError(absl::StrCat("cannot read ", path));
  }
  std::unique_ptr<RecordingReader> reader(new RecordingReader(std::move(file)));
  reader->stream_ = std::make_unique<google::protobuf::io::IstreamInputStream>(&reader->file_);
  bool is_at_end = false;
  if (!google::protobuf::util::ParseDelimitedFromZeroCopyStream(&reader->header_, reader->stream_.get(),
                                                                &is_at_end) ||
      reader->header_.magic() != kMagic) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is no recording"));
  }
  if (reader->header_.version() != kVersion) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, " is a recording of version ", reader->header_.version(), ", of which nothing is known here"));
  }
  return reader;
}

absl::StatusOr<bool> RecordingReader::Next(v1::RecordedEvent& event) {
  event.Clear();
  bool is_at_end = false;
  if (google::protobuf::util::ParseDelimitedFromZeroCopyStream(&event, stream_.get(), &is_at_end)) {
    return true;
  }
  if (is_at_end || file_.eof()) {
    return false;
  }
  return absl::DataLossError("the recording is damaged");
}

}  // namespace waystar::record
