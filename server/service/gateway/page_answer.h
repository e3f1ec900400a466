// Answers with the files of the page.
#pragma once

#include <optional>

#include "server/service/transport/http/http_handler.h"

namespace waystar::rpc {

// Returns the answer to a request for a file of the page, or nothing if the path is not a file. Files are the
// same for everyone, so no token is required. The answer contains the whole text: a connection holds one
// answer at a time, and the longest file has less than 64 KiB.
std::optional<http::HttpAnswer> PageAnswer(const http::RequestHead& head);

}  // namespace waystar::rpc
