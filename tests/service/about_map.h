// Requests of tests: about a map, and in protobuf's text format.
#pragma once

#include <string>

#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace waystar::testing {

// Returns a request that names the map.
template <typename Request>
Request About(const std::string& map) {
  Request request;
  request.set_map(map);
  return request;
}

// Returns a message in protobuf's text format, on one line.
inline std::string TextOf(const google::protobuf::Message& message) { return message.ShortDebugString(); }

// Reads a message in protobuf's text format.
template <typename Message>
Message Parsed(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

}  // namespace waystar::testing
