// Incremental reader of a request body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "server/base/mutex.h"
#include "server/base/quota.h"
#include "server/service/transport/http/request_head.h"
#include "server/service/transport/net/connection_table.h"

namespace waystar::http {

// Reads a body of known length or in chunks. Rejects chunk extensions. Reads and ignores trailers: at most
// kMaxTrailerLines, and no folded ones. A chunked body may take at most twice its limit plus 1 KiB on the
// wire.
//
// Thread safety: one thread.
class RequestBody {
 public:
  // REQUIRES: a known length is at most `max_bytes`.
  RequestBody(const RequestHead& head, std::size_t max_bytes);
  RequestBody(RequestBody&&) noexcept;
  ~RequestBody();

  // Result of Put.
  struct Progress {
    // Bytes consumed; the caller must put the rest again, with more bytes. May be less than all for chunks.
    std::size_t used = 0;
    // HTTP code of a rejection, 400 or 413, after which the connection must not be used; 0 for none.
    int refusal = 0;
  };
  Progress Put(std::string_view bytes);

  bool is_done() const;
  // Returns the body bytes received so far.
  std::size_t size() const;
  // REQUIRES: is_done().
  std::string Take();

 private:
  class Chunks;

  std::string text_;
  std::size_t length_ = 0;
  std::unique_ptr<Chunks> chunks_;
};

// Memory of request bodies, in total and by client network.
//
// Thread safety: any method may be called from any thread.
class BodyLedger {
 public:
  BodyLedger(std::size_t max_bytes, std::size_t max_network_bytes)
      : held_(Quota<net::Network>::Fixed(max_bytes, max_network_bytes)) {}

  // Adds bytes. Returns false, and adds nothing, if a limit would be exceeded.
  bool Add(const net::Network& network, std::size_t bytes);
  void Remove(const net::Network& network, std::size_t bytes);
  std::size_t bytes() const;

 private:
  mutable Mutex mutex_;
  Quota<net::Network> held_ ABSL_GUARDED_BY(mutex_);
};

// Bytes of one body, counted in a ledger until they are given back or this is destroyed. Counts nothing
// without a ledger.
//
// Thread safety: one thread.
class BodyShare {
 public:
  BodyShare() = default;
  BodyShare(std::shared_ptr<BodyLedger> ledger, const net::Network& network)
      : ledger_(std::move(ledger)), network_(network) {}
  BodyShare(BodyShare&& other) noexcept
      : ledger_(std::move(other.ledger_)), network_(other.network_), bytes_(std::exchange(other.bytes_, 0)) {}
  BodyShare& operator=(BodyShare&& other) noexcept;
  ~BodyShare() { GiveBack(); }

  // Raises the count to `bytes`. Returns false if a limit would be exceeded.
  bool GrowTo(std::size_t bytes);
  // Lowers the count to `bytes` if it is higher.
  void ShrinkTo(std::size_t bytes);
  void GiveBack() { ShrinkTo(0); }

 private:
  std::shared_ptr<BodyLedger> ledger_;
  net::Network network_;
  std::size_t bytes_ = 0;
};

}  // namespace waystar::http
