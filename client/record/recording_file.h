// Files of recordings: see waystar/v1/recording.proto.
#pragma once

#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <fstream>
#include <memory>
#include <mutex>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "waystar/v1/recording.pb.h"

namespace waystar::record {

// Writes as it goes, and keeps only what fits a buffer.
//
// Thread safety: any.
class RecordingWriter {
 public:
  // Replaces a file that is there. NOT_FOUND or PERMISSION_DENIED if it cannot be opened.
  static absl::StatusOr<std::unique_ptr<RecordingWriter>> Create(const std::string& path,
                                                                 const v1::RecordingHeader& header);

  // After the first that fails, nothing more is written; Close tells.
  void Write(const v1::RecordedEvent& event);
  // What was written so far can be read from here on.
  void Flush();
  // The last thing to do. DATA_LOSS if not all of it could be written.
  absl::Status Close();

 private:
  explicit RecordingWriter(std::ofstream file) : file_(std::move(file)) {}

  std::mutex mutex_;
  std::ofstream file_;
};

// Thread safety: one thread.
class RecordingReader {
 public:
  // NOT_FOUND if the file cannot be opened, INVALID_ARGUMENT if it is no recording, or of a later version.
  static absl::StatusOr<std::unique_ptr<RecordingReader>> Open(const std::string& path);

  const v1::RecordingHeader& header() const { return header_; }

  // The next event; false at the end. DATA_LOSS where the file is damaged; what was cut off in the middle of
  // an event, as by a full disk, is an end like any other.
  absl::StatusOr<bool> Next(v1::RecordedEvent& event);

 private:
  explicit RecordingReader(std::ifstream file) : file_(std::move(file)) {}

  std::ifstream file_;
  std::unique_ptr<google::protobuf::io::IstreamInputStream> stream_;
  v1::RecordingHeader header_;
};

}  // namespace waystar::record
