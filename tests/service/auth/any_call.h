// Calls of RPCs that are known by their descriptors alone.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "grpcpp/channel.h"

namespace waystar::testing {

// How a call with that one request ends; of a stream that answers, the error in the first answer, or OK. It
// shows the token, unless that is empty.
absl::Status CallAny(const std::shared_ptr<grpc::Channel>& channel,
                     const google::protobuf::MethodDescriptor& method,
                     const google::protobuf::Message& request, const std::string& token);

}  // namespace waystar::testing
