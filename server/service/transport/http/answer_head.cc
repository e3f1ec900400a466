#include "server/service/transport/http/answer_head.h"

// Boost.Asio 1.74 needs this header and does not include it.
#include <utility>
// The header above must precede all others.
#include <algorithm>
#include <boost/beast/http/status.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace waystar::http {
namespace {

// Returns false for text that would end the line of its field.
bool IsOneLine(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return absl::ascii_iscntrl(c); });
}

std::string Reason(int code) {
  const auto known = boost::beast::http::int_to_status(static_cast<unsigned>(code));
  if (known == boost::beast::http::status::unknown) {
    return "";
  }
  const auto reason = boost::beast::http::obsolete_reason(known);
  return std::string(reason.data(), reason.size());
}

}  // namespace

std::string AnswerHead(const HttpAnswer& answer, AnswerFraming framing, bool is_version_1_0,
                       bool keep_alive) {
  std::string head =
      absl::StrCat("HTTP/1.1 ", answer.code, " ", Reason(answer.code), "\r\nDate: ",
                   absl::FormatTime("%a, %d %b %E4Y %H:%M:%S GMT", absl::Now(), absl::UTCTimeZone()), "\r\n");
  if (!answer.content_type.empty() && IsOneLine(answer.content_type)) {
    absl::StrAppend(&head, "Content-Type: ", answer.content_type, "\r\n");
  }
  for (const auto& [name, value] : answer.fields) {
    if (IsOneLine(name) && IsOneLine(value)) {
      absl::StrAppend(&head, name, ": ", value, "\r\n");
    }
  }
  if (framing == AnswerFraming::kChunks) {
    absl::StrAppend(&head, "Transfer-Encoding: chunked\r\n");
  } else if (framing == AnswerFraming::kLength && answer.code != 204 && answer.code != 304) {
    absl::StrAppend(&head, "Content-Length: ", answer.body.size(), "\r\n");
  }
  if (!keep_alive) {
    absl::StrAppend(&head, "Connection: close\r\n");
  } else if (is_version_1_0) {
    absl::StrAppend(&head, "Connection: keep-alive\r\n");
  }
  head += "\r\n";
  return head;
}

std::string Chunk(std::string_view text) {
  std::string chunk = absl::StrCat(absl::Hex(text.size()), "\r\n");
  chunk.reserve(chunk.size() + text.size() + 2);
  chunk += text;
  chunk += "\r\n";
  return chunk;
}

HttpAnswer HttpHandler::Refuse(int code, const RequestHead* /*head*/) {
  return {.code = code, .content_type = "text/plain", .body = absl::StrCat(code, " ", Reason(code), "\n")};
}

}  // namespace waystar::http
