// Files of the map page, compiled in.
#pragma once

#include <string_view>
#include <vector>

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

}  // namespace waystar::rpc
