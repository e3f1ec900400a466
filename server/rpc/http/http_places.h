// What requests over HTTP may hold at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/base/mutex.h"
#include "server/rpc/admission/client_shares.h"
#include "server/runtime/metric_sink.h"

namespace waystar::rpc {

// Counts threads and bytes. Each request holds a thread, of which each network has a share (ClientShares),
// and streams leave some for others. Answers hold memory until they are sent.
//
// Thread safety: any.
class HttpPlaces {
 public:
  HttpPlaces(int threads, std::size_t max_answer_bytes);

  // Place of one request, given back with it. Thread safety: one thread.
  class Place {
   public:
    // `places` must outlive this.
    explicit Place(HttpPlaces& places) : places_(places) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place();

    // Takes a thread for a request of that network, which is to be called once. Returns RESOURCE_EXHAUSTED /
    // CLIENT_BUSY with a retry delay if it has its share.
    absl::Status Take(absl::string_view network);
    // The same for a stream, after Take. Returns RESOURCE_EXHAUSTED / CLIENT_BUSY if there are as many as may
    // be.
    absl::Status TakeStream();
    // Counts the bytes of an answer. Returns false if all together hold as many as they may; an answer that
    // is alone is never refused.
    bool HoldAnswer(std::size_t bytes);

   private:
    HttpPlaces& places_;
    bool is_taken_ = false;
    bool is_stream_ = false;
    std::uint64_t network_ = 0;
    std::size_t answer_bytes_ = 0;
  };

  void Collect(runtime::MetricSink& sink) const;

 private:
  const int max_streams_;
  const std::size_t max_answer_bytes_;
  mutable Mutex mutex_;
  ClientShares threads_ ABSL_GUARDED_BY(mutex_);
  int streams_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t answer_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t refused_client_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t refused_streams_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t refused_memory_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace waystar::rpc
