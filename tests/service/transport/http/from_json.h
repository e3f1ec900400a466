// Messages in what HTTP answers.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "google/protobuf/util/json_util.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "gtest/gtest.h"

namespace waystar::testing {

// A message of that type. Fails the test if the JSON is none.
template <typename Message>
Message FromJson(const std::string& json) {
  Message message;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &message);
  EXPECT_TRUE(status.ok()) << status.ToString() << ": " << json;
  return message;
}

inline google::rpc::ErrorInfo ErrorInfoIn(const google::rpc::Status& status) {
  google::rpc::ErrorInfo info;
  for (const auto& detail : status.details()) {
    if (detail.UnpackTo(&info)) {
      break;
    }
  }
  return info;
}

// The reason in a google.rpc.Status.
inline std::string ReasonIn(const google::rpc::Status& status) { return ErrorInfoIn(status).reason(); }

// The message in a line of a stream. Fails the test if it is none.
template <typename Message>
Message ResultIn(const std::optional<std::string>& line) {
  absl::string_view json = line ? absl::string_view(*line) : "";
  EXPECT_TRUE(absl::ConsumePrefix(&json, "{\"result\":")) << json;
  return FromJson<Message>(std::string(json.substr(0, json.size() - 1)));
}

// What the last line of a stream says.
inline google::rpc::Status ErrorIn(const std::optional<std::string>& line) {
  absl::string_view json = line ? absl::string_view(*line) : "";
  EXPECT_TRUE(absl::ConsumePrefix(&json, "{\"error\":")) << json;
  return FromJson<google::rpc::Status>(std::string(json.substr(0, json.size() - 1)));
}

}  // namespace waystar::testing
