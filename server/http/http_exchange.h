// HTTP request and its answer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

struct mg_connection;

namespace waystar::http {

// HTTP request and its answer, which is either whole or a stream.
//
// Thread safety: one thread.
class HttpExchange {
 public:
  // `connection` must outlive this.
  explicit HttpExchange(mg_connection* connection) : connection_(connection) {}

  std::string_view method() const;
  // Returns the path, decoded, without the query.
  std::string_view path() const;
  // Returns the client's address, such as "192.0.2.1" or "2001:db8::1".
  std::string_view client_address() const;
  // Returns the value of a header, which is empty if there is none of that name.
  std::string_view Header(const char* name) const;

  // Reads the body. Returns RESOURCE_EXHAUSTED / REQUEST_TOO_LARGE if it has more than `max_bytes`, which is
  // known before it is read if the request says its length; INVALID_ARGUMENT / TRUNCATED if it has not
  // arrived as a whole in `time`. The connection ends then with the answer.
  absl::StatusOr<std::string> ReadBody(std::size_t max_bytes, absl::Duration time);

  // Adds a header to the answer, which must not have begun.
  void AddHeader(std::string name, std::string value);
  // Ends the connection with the answer.
  void CloseAfterwards();

  void Answer(int code, std::string_view type, std::string_view body);

  // Begins a stream. Any number of Write and one EndStream follow.
  void BeginStream(std::string_view type);
  // Waits until the system has taken the text. Returns false if nobody reads any more.
  bool Write(std::string_view text);
  void EndStream();

  // Returns the code of the answer; 0 before it has begun.
  int code() const { return code_; }

 private:
  void Start(int code, std::string_view type);
  void Send(const char* name, std::string_view value);

  mg_connection* const connection_;
  std::vector<std::pair<std::string, std::string>> headers_;
  int code_ = 0;
};

}  // namespace waystar::http
