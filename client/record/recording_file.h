// Writer and reader of files of recordings: see waystar/v1/recording.proto.
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

// Writer of a recording, which writes as it goes and keeps only what fits a buffer.
//
// Thread safety: all methods may be called from any thread at the same time.
class RecordingWriter {
 public:
  // Opens a file, in place of one that there was. Errors: NOT_FOUND or PERMISSION_DENIED if it cannot be
  // opened.
  static absl::StatusOr<std::unique_ptr<RecordingWriter>> Create(const std::string& path,
                                                                 const v1::RecordingHeader& header);

  // Writes an event. After the first that fails nothing more is written, and Close tells.
  void Write(const v1::RecordedEvent& event);
  // Lets what was written so far be read.
  void Flush();
  // Ends the file. Errors: DATA_LOSS if not all of it could be written. REQUIRES: it is the last call.
  absl::Status Close();

 private:
  explicit RecordingWriter(std::ofstream file) : file_(std::move(file)) {}

  std::mutex mutex_;
  std::ofstream file_;
};

// Reader of a recording.
//
// Thread safety: one thread.
class RecordingReader {
 public:
  // Errors: NOT_FOUND if the file cannot be opened, INVALID_ARGUMENT if it is no recording or of a later
  // version.
  static absl::StatusOr<std::unique_ptr<RecordingReader>> Open(const std::string& path);

  const v1::RecordingHeader& header() const { return header_; }

  // Reads the next event. Returns false at the end. Errors: DATA_LOSS where the file is damaged; an event
  // that was cut off in the middle, as by a full disk, is an end like any other.
  absl::StatusOr<bool> Next(v1::RecordedEvent& event);

 private:
  explicit RecordingReader(std::ifstream file) : file_(std::move(file)) {}

  std::ifstream file_;
  std::unique_ptr<google::protobuf::io::IstreamInputStream> stream_;
  v1::RecordingHeader header_;
};

}  // namespace waystar::record
