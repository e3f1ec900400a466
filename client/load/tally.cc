#include "client/load/tally.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

#include "client/errors.h"

namespace waystar::load {

std::uint64_t Tally::failed() const {
  std::uint64_t sum = 0;
  for (const auto& [cause, failure] : failures) {
    sum += failure.count;
  }
  return sum;
}

void Failures::Add(const Failures& others) {
  count += others.count;
  if (message.empty()) {
    message = others.message;
  }
}

void Tally::AddFailure(const absl::Status& status, std::uint64_t count) {
  failures[{absl::StatusCodeToString(status.code()), client::ReasonOf(status)}].Add(
      {count, std::string(status.message())});
}

void Tally::Merge(const Tally& other) {
  answered += other.answered;
  without_path += other.without_path;
  for (const auto& [cause, failure] : other.failures) {
    failures[cause].Add(failure);
  }
  latency.Merge(other.latency);
  last_end = std::max(last_end, other.last_end);
}

namespace {

// Values below 2^(kBits + 1) have a bucket each; from there on each power of two has 2^kBits.
constexpr int kBits = 7;
constexpr std::size_t kPerOctave = std::size_t{1} << kBits;
constexpr std::size_t kBuckets = (63 - kBits + 1) * kPerOctave;

std::size_t BucketOf(std::uint64_t value) {
  const int shift = std::max(static_cast<int>(std::bit_width(value)) - kBits - 1, 0);
  return static_cast<std::size_t>(shift) * kPerOctave + static_cast<std::size_t>(value >> shift);
}

std::int64_t LargestIn(std::size_t bucket) {
  if (bucket < 2 * kPerOctave) {
    return static_cast<std::int64_t>(bucket);
  }
  const std::size_t shift = bucket / kPerOctave - 1;
  return static_cast<std::int64_t>(((std::uint64_t{bucket % kPerOctave} + kPerOctave + 1) << shift) - 1);
}

}  // namespace

Histogram::Histogram() : buckets_(kBuckets) {}

void Histogram::Add(std::int64_t value, std::uint64_t times) {
  value = std::max<std::int64_t>(value, 0);
  buckets_[BucketOf(static_cast<std::uint64_t>(value))] += times;
  count_ += times;
  max_ = std::max(max_, value);
  sum_ += static_cast<double>(value) * static_cast<double>(times);
}

void Histogram::Merge(const Histogram& other) {
  for (std::size_t i = 0; i < kBuckets; ++i) {
    buckets_[i] += other.buckets_[i];
  }
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

double Histogram::Mean() const { return count_ == 0 ? 0.0 : sum_ / static_cast<double>(count_); }

std::int64_t Histogram::Percentile(double percent) const {
  // A little less, for a rank that is whole but for rounding.
  const double rank = std::ceil(percent / 100 * static_cast<double>(count_) - 1e-6);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += buckets_[i];
    if (seen > 0 && static_cast<double>(seen) >= rank) {
      return std::min(LargestIn(i), max_);
    }
  }
  return max_;
}

std::vector<Histogram::Octave> Histogram::Octaves() const {
  std::vector<Octave> octaves;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    const auto from = static_cast<std::int64_t>(
        std::bit_floor(std::max<std::uint64_t>(static_cast<std::uint64_t>(LargestIn(i)), 1)));
    if (octaves.empty() ? buckets_[i] > 0 : octaves.back().from < from) {
      octaves.push_back({from, 0});
    }
    if (!octaves.empty()) {
      octaves.back().count += buckets_[i];
    }
  }
  while (!octaves.empty() && octaves.back().count == 0) {
    octaves.pop_back();
  }
  return octaves;
}

}  // namespace waystar::load
