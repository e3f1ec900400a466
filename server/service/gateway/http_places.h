// Limits on concurrent HTTP requests: calls, streams, answer bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/base/mutex.h"
#include "server/base/quota.h"
#include "server/runtime/metric_sink.h"

namespace waystar::rpc {

// Counts calls, streams and bytes; of each, a network has a share (Quota::Shared). Streams leave calls for
// others. Answers hold memory until they are sent.
//
// Thread safety: any.
class HttpPlaces {
 public:
  HttpPlaces(int calls, std::size_t max_answer_bytes);

  // Place of one request, released on destruction. Thread safety: one thread at a time.
  class Place {
   public:
    explicit Place(std::shared_ptr<HttpPlaces> places) : places_(std::move(places)) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place();

    // Takes a place for a request of that network; call it once. Returns RESOURCE_EXHAUSTED / CLIENT_BUSY
    // with a retry delay if the network has its share.
    absl::Status Take(absl::string_view network);
    // Like Take, for a stream; call it after Take.
    absl::Status TakeStream();
    // Sets the number of answer bytes that wait to be converted or sent. Returns false, and changes nothing,
    // if the total would exceed its limit, or the network, with other answers, would hold more than
    // Quota::kRatio times as much as is free. An answer that is alone is never rejected.
    bool HoldAnswer(std::size_t bytes);

   private:
    const std::shared_ptr<HttpPlaces> places_;
    bool is_taken_ = false;
    bool is_stream_ = false;
    std::uint64_t network_ = 0;
    std::size_t answer_bytes_ = 0;
  };

  void Collect(runtime::MetricSink& sink) const;

 private:
  mutable Mutex mutex_;
  Quota<std::uint64_t> calls_ ABSL_GUARDED_BY(mutex_);
  Quota<std::uint64_t> streams_ ABSL_GUARDED_BY(mutex_);
  // Unsent answer bytes, by network.
  Quota<std::uint64_t> answers_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t refused_client_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t refused_streams_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t refused_memory_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace waystar::rpc
