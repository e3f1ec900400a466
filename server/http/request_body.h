// The body of a request, as it arrives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "server/http/request_head.h"

namespace waystar::http {

// Reads a body of known length, or one in chunks. Chunks may have no extensions. Trailers are read and
// forgotten: at most as many as a head has lines, and none that is folded. And what is sent for a body in
// chunks is at most twice its limit and a kibibyte.
//
// Thread safety: one thread.
class RequestBody {
 public:
  // REQUIRES: a known length is at most `max_bytes`.
  RequestBody(const RequestHead& head, std::size_t max_bytes);
  RequestBody(RequestBody&&) noexcept;
  ~RequestBody();

  // What came of some bytes.
  struct Progress {
    // How many of them belong to the body, and are not to be put again. Of chunks the last few may be left
    // over until more have arrived.
    std::size_t used = 0;
    // The code of a refusal, after which the connection must not be used further: 400 or 413; 0 for none.
    int refusal = 0;
  };
  Progress Put(std::string_view bytes);

  bool is_done() const;
  // What has arrived.
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
