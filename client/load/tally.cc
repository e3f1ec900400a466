#include "client/load/tally.h"

#include <algorithm>

#include "client/errors.h"

namespace waystar::load {

std::uint64_t Tally::failed() const {
  std::uint64_t sum = 0;
  for (const auto& [cause, failure] : failures) {
    sum += failure.count;
  }
  return sum;
}

void Tally::AddFailure(const absl::Status& status, std::uint64_t count) {
  Failures& same = failures[{absl::StatusCodeToString(status.code()), client::ReasonOf(status)}];
  same.count += count;
  if (same.message.empty()) {
    same.message = std::string(status.message());
  }
}

void Tally::Merge(const Tally& other) {
  answered += other.answered;
  without_path += other.without_path;
  for (const auto& [cause, failure] : other.failures) {
    Failures& same = failures[cause];
    same.count += failure.count;
    if (same.message.empty()) {
      same.message = failure.message;
    }
  }
  latency.Merge(other.latency);
  last_end = std::max(last_end, other.last_end);
}

}  // namespace waystar::load
