// The head of a request: its first line and its fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace waystar::http {

// The longest head, with the empty line at its end.
inline constexpr std::size_t kMaxHeadBytes = std::size_t{16} << 10;

// Thread safety: that of a value.
struct RequestHead {
  // "GET". Case matters.
  std::string method;
  // The target up to its first '?', as it was sent: nothing is decoded. It is not always a path: "*" and
  // "http://host/" are legal.
  std::string path;
  // What stands behind the '?'.
  std::string query;
  std::vector<std::pair<std::string, std::string>> fields;
  // HTTP/1.0, of a client that understands no chunks.
  bool is_version_1_0 = false;
  bool keep_alive = true;
  // The body is chunked, and its length not known.
  bool is_chunked = false;
  // The length of the body otherwise.
  std::uint64_t content_length = 0;
  // The client waits for "100 Continue" before it sends the body.
  bool expects_continue = false;

  // Returns the value of the first field of that name, whatever its case; empty if there is none.
  std::string_view Field(std::string_view name) const;
  bool has_body() const { return is_chunked || content_length > 0; }
};

// Reads a head, which ends with the first empty line in `text`. Returns the code of the refusal for one that
// two programs could understand in two ways: 400, 417, 431, 501 or 505. The connection must not be used
// further after that.
std::variant<RequestHead, int> ParseRequestHead(std::string_view text);

}  // namespace waystar::http
