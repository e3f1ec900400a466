// The files of the page that shows the maps, compiled in.
#pragma once

#include <string_view>
#include <vector>

namespace waystar::rpc {

// A file of the page, as it lies in server/service/gateway/page.
struct PageFile {
  // "/" or "/app.js".
  std::string_view path;
  std::string_view type;
  // The entity tag of the text, in quotes.
  std::string_view etag;
  std::string_view text;
};

const std::vector<PageFile>& PageFiles();

}  // namespace waystar::rpc
