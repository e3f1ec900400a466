#include "server/service/gateway/http_places.h"

#include "absl/hash/hash.h"
#include "absl/time/time.h"
#include "server/base/error.h"

namespace waystar::rpc {
namespace {

// Some request is answered in this time.
constexpr absl::Duration kBusyDelay = absl::Milliseconds(50);

}  // namespace

HttpPlaces::HttpPlaces(int calls, std::size_t max_answer_bytes)
    : calls_(Quota<std::uint64_t>::Shared(static_cast<std::size_t>(calls))),
      streams_(Quota<std::uint64_t>::Shared(static_cast<std::size_t>(calls) * 5 / 8)),
      answers_(Quota<std::uint64_t>::Shared(max_answer_bytes)) {}

HttpPlaces::Place::~Place() {
  MutexLock lock(places_->mutex_);
  places_->answers_.GiveBack(network_, answer_bytes_);
  if (is_stream_) {
    places_->streams_.GiveBack(network_);
  }
  if (is_taken_) {
    places_->calls_.GiveBack(network_);
  }
}

absl::Status HttpPlaces::Place::Take(absl::string_view network) {
  network_ = absl::HashOf(network);
  MutexLock lock(places_->mutex_);
  is_taken_ = places_->calls_.Take(network_);
  if (is_taken_) {
    return absl::OkStatus();
  }
  ++places_->refused_client_;
  return Refusal(ErrorReason::kClientBusy, kBusyDelay,
                 "the address has as many requests over HTTP on their way as it may");
}

absl::Status HttpPlaces::Place::TakeStream() {
  MutexLock lock(places_->mutex_);
  is_stream_ = places_->streams_.Take(network_);
  if (is_stream_) {
    return absl::OkStatus();
  }
  ++places_->refused_streams_;
  return Refusal(ErrorReason::kClientBusy, kBusyDelay,
                 "the address has as many streams over HTTP open as it may");
}

bool HttpPlaces::Place::HoldAnswer(std::size_t bytes) {
  MutexLock lock(places_->mutex_);
  Quota<std::uint64_t>& answers = places_->answers_;
  answers.GiveBack(network_, answer_bytes_);
  const bool may_have_it = bytes <= answer_bytes_ || answers.total() == 0;
  if (!may_have_it && !answers.Take(network_, bytes)) {
    answers.TakeAnyway(network_, answer_bytes_);
    ++places_->refused_memory_;
    return false;
  }
  if (may_have_it) {
    answers.TakeAnyway(network_, bytes);
  }
  answer_bytes_ = bytes;
  return true;
}

void HttpPlaces::Collect(runtime::MetricSink& sink) const {
  constexpr char kRefused[] = "waystar_http_refused_total";
  constexpr char kRefusedHelp[] = "Requests over HTTP that were refused, by the limit.";
  MutexLock lock(mutex_);
  sink.AddCounter(kRefused, kRefusedHelp, refused_client_, {{"limit", "address"}});
  sink.AddCounter(kRefused, kRefusedHelp, refused_memory_, {{"limit", "memory"}});
  sink.AddCounter(kRefused, kRefusedHelp, refused_streams_, {{"limit", "streams"}});
  sink.AddGauge("waystar_http_answer_bytes", "What answers over HTTP hold until they are sent.",
                answers_.total());
  sink.AddGauge("waystar_http_streams", "Streams over HTTP that are open.", streams_.total());
}

}  // namespace waystar::rpc
