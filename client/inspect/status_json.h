#pragma once

#include <google/protobuf/message.h>
#include <grpcpp/support/status.h>

#include <string>

namespace waystar::inspect {

// Writes the message in protobuf's JSON on one line, without an end of line. Fields with their defaults are
// left out.
std::string MessageJson(const google::protobuf::Message& message);

// Writes the failed call as a google.rpc.Status, with the details that the server sent.
std::string StatusJson(const grpc::Status& status);

// Returns the HTTP code by the usual mapping of canonical codes: NOT_FOUND is 404.
int HttpCode(grpc::StatusCode code);

}  // namespace waystar::inspect
