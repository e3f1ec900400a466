#include "server/http/http_exchange.h"

#include <civetweb.h>

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/base/error.h"

namespace waystar::http {
namespace {

// The library waits for a part to be complete for as long as it makes any headway, and only between parts is
// there a look at the time: small ones bound what a client can hold up that sends a byte now and then.
constexpr std::size_t kPartBytes = 64;

std::string_view Text(const char* text) { return text == nullptr ? std::string_view() : text; }

absl::Status TooLong(std::size_t max_bytes) {
  return MakeError(absl::StatusCode::kResourceExhausted, ErrorReason::kRequestTooLarge, "",
                   absl::StrCat("the body has more than ", max_bytes, " bytes"));
}

}  // namespace

std::string_view HttpExchange::method() const {
  return Text(mg_get_request_info(connection_)->request_method);
}

std::string_view HttpExchange::path() const { return Text(mg_get_request_info(connection_)->local_uri); }

std::string_view HttpExchange::client_address() const {
  return mg_get_request_info(connection_)->remote_addr;
}

std::string_view HttpExchange::Header(const char* name) const {
  return Text(mg_get_header(connection_, name));
}

absl::StatusOr<std::string> HttpExchange::ReadBody(std::size_t max_bytes, absl::Duration time) {
  const long long length = mg_get_request_info(connection_)->content_length;
  if (length > static_cast<long long>(max_bytes)) {
    CloseAfterwards();
    return TooLong(max_bytes);
  }
  const absl::Time deadline = absl::Now() + time;
  std::string body;
  std::array<char, kPartBytes> part;
  int bytes = 0;
  while (absl::Now() < deadline && (bytes = mg_read(connection_, part.data(), part.size())) > 0) {
    if (body.size() + static_cast<std::size_t>(bytes) > max_bytes) {
      CloseAfterwards();
      return TooLong(max_bytes);
    }
    body.append(part.data(), static_cast<std::size_t>(bytes));
  }
  if (bytes != 0 || (length >= 0 && body.size() < static_cast<std::size_t>(length))) {
    CloseAfterwards();
    return InvalidArgument(ErrorReason::kTruncated, "", "the body has not arrived as a whole");
  }
  return body;
}

void HttpExchange::AddHeader(std::string name, std::string value) {
  headers_.emplace_back(std::move(name), std::move(value));
}

void HttpExchange::CloseAfterwards() { mg_disable_connection_keep_alive(connection_); }

void HttpExchange::Answer(int code, std::string_view type, std::string_view body) {
  Start(code, type);
  if (code != 204) {
    Send("Content-Length", absl::StrCat(body.size()));
  }
  mg_response_header_send(connection_);
  if (method() != "HEAD" && !body.empty()) {
    mg_write(connection_, body.data(), body.size());
  }
}

void HttpExchange::BeginStream(std::string_view type) {
  Start(200, type);
  Send("Transfer-Encoding", "chunked");
  mg_response_header_send(connection_);
}

bool HttpExchange::Write(std::string_view text) {
  return mg_send_chunk(connection_, text.data(), static_cast<unsigned>(text.size())) > 0;
}

void HttpExchange::EndStream() { mg_send_chunk(connection_, "", 0); }

void HttpExchange::Start(int code, std::string_view type) {
  code_ = code;
  mg_response_header_start(connection_, code);
  if (!type.empty()) {
    Send("Content-Type", type);
  }
  for (const auto& [name, value] : headers_) {
    Send(name.c_str(), value);
  }
}

void HttpExchange::Send(const char* name, std::string_view value) {
  mg_response_header_add(connection_, name, value.data(), static_cast<int>(value.size()));
}

}  // namespace waystar::http
