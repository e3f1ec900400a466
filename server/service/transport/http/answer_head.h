// Head of an HTTP answer, and the chunks of a stream.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "server/service/transport/http/http_handler.h"

namespace waystar::http {

// How the end of an answer's body is marked.
enum class AnswerFraming { kLength, kChunks, kClose };

// Returns the status line and all fields, with the empty line at the end.
std::string AnswerHead(const HttpAnswer& answer, AnswerFraming framing, bool is_version_1_0, bool keep_alive);

// Returns the text as one chunk.
// REQUIRES: `text` is not empty.
std::string Chunk(std::string_view text);

inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace waystar::http
