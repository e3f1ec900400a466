#pragma once

#include <optional>
#include <string>
#include <string_view>

struct mg_connection;

namespace waystar::inspect {

// HTTP request and its answer, which is either whole or a stream.
//
// Thread safety: one thread.
class HttpExchange {
 public:
  // `connection` must outlive this.
  explicit HttpExchange(mg_connection* connection) : connection_(connection) {}

  std::string_view method() const;
  std::string_view path() const;
  // Returns the value of a header, which is empty if there is none of that name.
  std::string_view Header(const char* name) const;

  // Returns the body, or nothing if it has more than `max_bytes` or does not arrive.
  std::optional<std::string> ReadBody(size_t max_bytes) const;

  void Answer(int code, std::string_view type, std::string_view body, std::string_view etag = {});

  // Begins a stream. Any number of Write and one EndStream follow.
  void BeginStream(std::string_view type);
  // Returns false if nobody reads any more.
  bool Write(std::string_view text);
  void EndStream();

  // The code of the answer; 0 before it has begun.
  int code() const { return code_; }

 private:
  void Start(int code, std::string_view type);
  void AddHeader(const char* name, std::string_view value);

  mg_connection* const connection_;
  int code_ = 0;
};

}  // namespace waystar::inspect
