#include "server/service/gateway/page_answer.h"

#include <algorithm>
#include <string>

namespace waystar::rpc {
namespace {

// Allows only what this server sends: no inline scripts or styles, no framing.
constexpr char kContentPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

}  // namespace

std::optional<http::HttpAnswer> PageAnswer(const http::RequestHead& head) {
  const auto file =
      std::ranges::find_if(PageFiles(), [&](const PageFile& each) { return each.path == head.path; });
  if (file == PageFiles().end()) {
    return std::nullopt;
  }
  http::HttpAnswer answer{.content_type = std::string(file->type),
                          .fields = {{"Content-Security-Policy", kContentPolicy},
                                     {"X-Content-Type-Options", "nosniff"},
                                     {"Referrer-Policy", "no-referrer"},
                                     {"Cross-Origin-Resource-Policy", "same-origin"},
                                     // Cached, but revalidated each time: an ETag saves the bytes.
                                     {"Cache-Control", "no-cache"},
                                     {"ETag", std::string(file->etag)}}};
  if (head.method != "GET" && head.method != "HEAD") {
    answer.code = 405;
    answer.content_type = "text/plain; charset=utf-8";
    answer.body = "A page is read with GET.\n";
    answer.fields.emplace_back("Allow", "GET, HEAD, OPTIONS");
  } else if (head.Field("If-None-Match") == file->etag) {
    answer.code = 304;
  } else {
    answer.body = std::string(file->text);
  }
  return answer;
}

}  // namespace waystar::rpc
