#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/time/time.h"
#include "client/cli/session.h"

namespace waystar::cli {

// Progress line on the terminal, which tells how far long work is: its part, the rate, and the time that is
// left. It is written to standard error, a few times a second, over itself, and is gone at the end. Where
// that is not a terminal, or with --json, nothing is written.
//
// Thread safety: one thread.
class Progress {
 public:
  // `work` says what is done, such as "importing".
  Progress(Session& session, std::string work);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // In bytes. A `total` of 0 means that it is not known.
  void Show(std::int64_t done, std::int64_t total);
  // Shows any text in place of that, at once.
  void Show(const std::string& text);

 private:
  std::ostream& out_;
  const bool is_shown_;
  const std::string work_;
  const absl::Time begin_;
  absl::Time last_ = absl::InfinitePast();
};

// Returns a function that shows how far a transfer is. `progress` must outlive it.
inline client::TransferProgress Shown(Progress& progress) {
  return [&progress](std::int64_t done, std::int64_t total) { progress.Show(done, total); };
}

// Writes what Progress::Show shows: "importing  50%  12.0 of 24.0 MiB  8.0 MiB/s  2s left".
std::string ProgressLine(const std::string& work, std::int64_t done, std::int64_t total,
                         absl::Duration elapsed);

}  // namespace waystar::cli
