#include "client/cli/progress.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"

namespace waystar::cli {
namespace {

constexpr char kEraseLine[] = "\r\x1b[K";
constexpr absl::Duration kPause = absl::Milliseconds(100);
constexpr double kMebi = 1024.0 * 1024.0;

std::string MebibytesText(double bytes) { return absl::StrFormat("%.1f", bytes / kMebi); }

}  // namespace

std::string ProgressLine(const std::string& work, std::int64_t done, std::int64_t total,
                         absl::Duration elapsed) {
  const double seconds = std::max(absl::ToDoubleSeconds(elapsed), 1e-3);
  const double rate = static_cast<double>(done) / seconds;
  std::string line = work;
  if (total > 0) {
    absl::StrAppend(&line, "  ", 100 * std::clamp<std::int64_t>(done, 0, total) / total, "%");
  }
  absl::StrAppend(&line, "  ", MebibytesText(static_cast<double>(done)));
  if (total > 0) {
    absl::StrAppend(&line, " of ", MebibytesText(static_cast<double>(total)));
  }
  absl::StrAppend(&line, " MiB  ", MebibytesText(rate), " MiB/s");
  if (total > done && done > 0) {
    const absl::Duration left = absl::Seconds(static_cast<double>(total - done) / rate);
    absl::StrAppend(&line, "  ", absl::FormatDuration(absl::Ceil(left, absl::Seconds(1))), " left");
  }
  return line;
}

Progress::Progress(Session& session, std::string work)
    : out_(session.io().err),
      is_shown_(session.io().shows_progress && !session.options().json),
      work_(std::move(work)),
      begin_(absl::Now()) {}

Progress::~Progress() {
  if (is_shown_ && last_ > absl::InfinitePast()) {
    out_ << kEraseLine << std::flush;
  }
}

void Progress::Show(std::int64_t done, std::int64_t total) {
  if (!is_shown_) {
    return;
  }
  if (const absl::Time now = absl::Now(); now - last_ >= kPause) {
    Show(ProgressLine(work_, done, total, now - begin_));
  }
}

void Progress::Show(const std::string& text) {
  if (is_shown_) {
    last_ = absl::Now();
    out_ << kEraseLine << text << std::flush;
  }
}

}  // namespace waystar::cli
