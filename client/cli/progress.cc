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
constexpr std::int64_t kBarWidth = 24;
constexpr double kMebi = 1024.0 * 1024.0;

std::string AmountText(double amount, Progress::Unit unit) {
  return unit == Progress::Unit::kBytes ? absl::StrFormat("%.1f", amount / kMebi)
                                        : absl::StrFormat("%.0f", amount);
}

}  // namespace

std::string ProgressLine(const std::string& work, Progress::Unit unit, const std::string& things,
                         std::int64_t done, std::int64_t total, absl::Duration elapsed) {
  const double seconds = std::max(absl::ToDoubleSeconds(elapsed), 1e-3);
  const double rate = static_cast<double>(done) / seconds;
  const std::string name = unit == Progress::Unit::kBytes ? "MiB" : things;
  std::string line = work;
  if (total > 0) {
    const std::int64_t shown = std::clamp<std::int64_t>(done, 0, total);
    const std::int64_t filled = kBarWidth * shown / total;
    absl::StrAppend(&line, "  [", std::string(static_cast<std::size_t>(filled), '#'),
                    std::string(static_cast<std::size_t>(kBarWidth - filled), '-'), "]  ",
                    100 * shown / total, "%");
  }
  absl::StrAppend(&line, "  ", AmountText(static_cast<double>(done), unit));
  if (total > 0) {
    absl::StrAppend(&line, " of ", AmountText(static_cast<double>(total), unit));
  }
  absl::StrAppend(&line, " ", name, "  ", AmountText(rate, unit), " ", name, "/s");
  if (total > done && done > 0) {
    const absl::Duration left = absl::Seconds(static_cast<double>(total - done) / rate);
    absl::StrAppend(&line, "  ", absl::FormatDuration(absl::Ceil(left, absl::Seconds(1))), " left");
  }
  return line;
}

Progress::Progress(Session& session, std::string work, Unit unit, std::string things)
    : out_(session.io().err),
      is_shown_(session.io().shows_progress && !session.options().json),
      work_(std::move(work)),
      unit_(unit),
      things_(std::move(things)),
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
    Show(ProgressLine(work_, unit_, things_, done, total, now - begin_));
  }
}

void Progress::Show(const std::string& text) {
  if (is_shown_) {
    last_ = absl::Now();
    out_ << kEraseLine << text << std::flush;
  }
}

}  // namespace waystar::cli
