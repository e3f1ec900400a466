// Incremental reader of a request body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "server/service/transport/http/request_head.h"

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

}  // namespace waystar::http
