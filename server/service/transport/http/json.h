// Messages and errors as JSON, by the JSON mapping of proto3.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "grpcpp/support/status.h"

namespace waystar::http {

// Converts JSON to wire format without building the message. Field names may be lowerCamelCase or as in the
// proto. Returns INVALID_ARGUMENT / BAD_VALUE, with the field if known, if the text is not JSON or not such a
// message, or is nested deeper than 100 levels. The error quotes at most 200 bytes.
absl::StatusOr<std::string> JsonToWire(const google::protobuf::Descriptor& type, std::string_view json);

// Converts wire format to JSON on one line, without a newline. Omits fields with default values. Returns
// INTERNAL if the bytes are not such a message.
absl::StatusOr<std::string> WireToJson(const google::protobuf::Descriptor& type, std::string_view wire);

// Returns the message as JSON on one line, without a newline. Omits fields with default values.
std::string MessageJson(const google::protobuf::Message& message);

// Returns a status as a google.rpc.Status in JSON, with its details.
std::string StatusJson(const grpc::Status& status);

// Returns the HTTP code by the usual mapping of canonical codes: 404 for NOT_FOUND.
int HttpCode(grpc::StatusCode code);

}  // namespace waystar::http
