// Head of a request: request line and header fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace waystar::http {

// Maximum size of a head, with the empty line at its end.
inline constexpr std::size_t kMaxHeadBytes = std::size_t{16} << 10;

struct RequestHead {
  // Such as "GET". Case-sensitive.
  std::string method;
  // Target up to the first '?', not decoded. Not always a path: "*" and "http://host/" are legal.
  std::string path;
  // The part after the '?'.
  std::string query;
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

}  // namespace waystar::http
