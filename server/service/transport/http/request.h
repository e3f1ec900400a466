// Requests as they arrive: heads, bodies, and the memory of bodies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "server/base/mutex.h"
#include "server/base/quota.h"
#include "server/service/transport/net/connection_table.h"

namespace waystar::http {

// Maximum size of a head, with the empty line at its end.
inline constexpr std::size_t kMaxHeadBytes = std::size_t{16} << 10;

struct RequestHead {
  // Such as "GET". Case-sensitive.
  std::string method;
  // Target up to the first '?', not decoded. Not always a path: "*" and "http://host/" are legal.
  std::string path;
  std::vector<std::pair<std::string, std::string>> fields;
  // True for HTTP/1.0, which has no chunks.
  bool is_version_1_0 = false;
  bool keep_alive = true;
  // True for a chunked body, whose length is unknown.
  bool is_chunked = false;
  // Length of a body that is not chunked.
  std::uint64_t content_length = 0;
  // True if the client waits for "100 Continue" before it sends the body.
  bool expects_continue = false;

  // Returns the value of the first field of that name, ignoring case; empty if there is none.
  std::string_view Field(std::string_view name) const;
  bool has_body() const { return is_chunked || content_length > 0; }
};

// Parses a head that ends with an empty line. Returns the HTTP code of the rejection for a malformed or
// ambiguous one: 400, 417, 431, 501 or 505. The connection must not be used after that.
std::variant<RequestHead, int> ParseRequestHead(std::string_view text);

// Reads a body of known length or in chunks. Rejects chunk extensions. Reads and ignores trailers: at most 64
// lines, and no folded ones. A chunked body may take at most twice its limit plus 1 KiB on the wire.
//
// Thread safety: one thread.
class RequestBody {
 public:
  // REQUIRES: a known length is at most `max_bytes`.
  RequestBody(const RequestHead& head, std::size_t max_bytes);
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
  bool Add(const net::Network& network, std::size_t bytes) {
    MutexLock lock(mutex_);
    return held_.Take(network, bytes);
  }
  void Remove(const net::Network& network, std::size_t bytes) {
    MutexLock lock(mutex_);
    held_.GiveBack(network, bytes);
  }
  std::size_t bytes() const {
    MutexLock lock(mutex_);
    return held_.total();
  }

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
  BodyShare(BodyShare&& other) noexcept { *this = std::move(other); }
  BodyShare& operator=(BodyShare&& other) noexcept {
    std::swap(ledger_, other.ledger_);
    std::swap(network_, other.network_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
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
