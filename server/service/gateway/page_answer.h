// Files of the map page, compiled in, and answers with them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "server/service/transport/http/http_handler.h"

namespace waystar::rpc {

// A file of the page from server/service/gateway/page.
struct PageFile {
  // Such as "/" or "/app.js".
  std::string_view path;
  std::string_view type;
  // Entity tag of the text, in quotes.
  std::string_view etag;
  std::string_view text;
};

const std::vector<PageFile>& PageFiles();

// Returns the answer to a request for a file of the page, or nothing if the path is not a file. Files are the
// same for everyone, so no token is required. The answer contains the whole text: a connection holds one
// answer at a time, and the longest file has less than 64 KiB.
std::optional<http::HttpAnswer> PageAnswer(const http::RequestHead& head);

}  // namespace waystar::rpc
