// Messages and errors as JSON, by the JSON mapping of proto3.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "grpcpp/support/status.h"

namespace waystar::http {

// Converts a message to its wire format, by way of no message in memory. Names of fields may be written
// lowerCamelCase or as in the proto. Returns INVALID_ARGUMENT / BAD_VALUE, with the field if one is to blame,
// for what is no JSON, no such message, or nested deeper than 100 levels. Of what was sent the error quotes
// at most 200 bytes.
absl::StatusOr<std::string> JsonToWire(const google::protobuf::Descriptor& type, std::string_view json);

// Converts it back, to one line without an end. Fields with their defaults are left out. Returns INTERNAL for
// bytes that cannot be converted.
absl::StatusOr<std::string> WireToJson(const google::protobuf::Descriptor& type, std::string_view wire);

// Returns the message on one line, without an end of line. Fields with their defaults are left out.
std::string MessageJson(const google::protobuf::Message& message);

// Returns how a call ended as a google.rpc.Status, with the details that came with it.
std::string StatusJson(const grpc::Status& status);

// Returns the HTTP code by the usual mapping of canonical codes: 404 for NOT_FOUND.
int HttpCode(grpc::StatusCode code);

}  // namespace waystar::http
