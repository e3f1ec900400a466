// Requests of tests: about a map, in protobuf's text format, and in limited time.
#pragma once

#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"
#include "grpcpp/client_context.h"
#include "gtest/gtest.h"
#include "tests/testing/patience.h"

namespace waystar {

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

// Returns the message with fields in protobuf's text format merged into it.
template <typename Message>
Message Merged(Message message, const std::string& text) {
  message.MergeFrom(Parsed<Message>(text));
  return message;
}

// A client context whose call ends at the latest when the patience of tests does.
class BoundedContext : public grpc::ClientContext {
 public:
  BoundedContext() { set_deadline(absl::ToChronoTime(absl::Now() + kPatience)); }
};

}  // namespace waystar
