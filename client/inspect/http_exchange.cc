#include "client/inspect/http_exchange.h"

#include <civetweb.h>

#include <array>

#include "absl/strings/str_cat.h"

namespace waystar::inspect {
namespace {

// Nothing but what this server sends itself: no scripts or styles in the page's text, no frames around it.
constexpr char kContentPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string_view Text(const char* text) { return text == nullptr ? std::string_view() : text; }

}  // namespace

std::string_view HttpExchange::method() const {
  return Text(mg_get_request_info(connection_)->request_method);
}

std::string_view HttpExchange::path() const { return Text(mg_get_request_info(connection_)->local_uri); }

std::string_view HttpExchange::Header(const char* name) const {
  return Text(mg_get_header(connection_, name));
}

std::optional<std::string> HttpExchange::ReadBody(size_t max_bytes) const {
  const long long length = mg_get_request_info(connection_)->content_length;
  if (length > static_cast<long long>(max_bytes)) {
    return std::nullopt;
  }
  std::string body;
  std::array<char, 16 << 10> part;
  int bytes = 0;
  while ((bytes = mg_read(connection_, part.data(), part.size())) > 0) {
    body.append(part.data(), bytes);
    if (body.size() > max_bytes) {
      return std::nullopt;
    }
  }
  if (bytes < 0 || (length >= 0 && body.size() < static_cast<size_t>(length))) {
    return std::nullopt;
  }
  return body;
}

void HttpExchange::Answer(int code, std::string_view type, std::string_view body, std::string_view etag) {
  Start(code, type);
  AddHeader("Content-Length", absl::StrCat(body.size()));
  if (!etag.empty()) {
    AddHeader("ETag", etag);
  }
  mg_response_header_send(connection_);
  if (method() != "HEAD" && !body.empty()) {
    mg_write(connection_, body.data(), body.size());
  }
}

void HttpExchange::BeginStream(std::string_view type) {
  Start(200, type);
  AddHeader("Transfer-Encoding", "chunked");
  mg_response_header_send(connection_);
}

bool HttpExchange::Write(std::string_view text) {
  return mg_send_chunk(connection_, text.data(), static_cast<unsigned>(text.size())) > 0;
}

void HttpExchange::EndStream() { mg_send_chunk(connection_, "", 0); }

void HttpExchange::Start(int code, std::string_view type) {
  code_ = code;
  mg_response_header_start(connection_, code);
  AddHeader("Content-Type", type);
  AddHeader("Content-Security-Policy", kContentPolicy);
  AddHeader("X-Content-Type-Options", "nosniff");
  AddHeader("Referrer-Policy", "no-referrer");
  AddHeader("Cross-Origin-Resource-Policy", "same-origin");
  // Kept, but asked for again each time: an ETag saves the bytes.
  AddHeader("Cache-Control", "no-cache");
}

void HttpExchange::AddHeader(const char* name, std::string_view value) {
  mg_response_header_add(connection_, name, value.data(), static_cast<int>(value.size()));
}

}  // namespace waystar::inspect
