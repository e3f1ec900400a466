#include "client/inspect/status_json.h"

#include <google/protobuf/util/json_util.h>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace waystar::inspect {

std::string MessageJson(const google::protobuf::Message& message) {
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(message, &json).ok()) {
    return "{}";
  }
  return json;
}

std::string StatusJson(const grpc::Status& status) {
  // The details are printed by what is known of their types.
  google::protobuf::LinkMessageReflection<google::rpc::ErrorInfo>();
  google::rpc::Status message;
  if (!message.ParseFromString(status.error_details())) {
    message.Clear();
  }
  message.set_code(static_cast<int>(status.error_code()));
  message.set_message(status.error_message());
  return MessageJson(message);
}

int HttpCode(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::OK:
      return 200;
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::OUT_OF_RANGE:
      return 400;
    case grpc::StatusCode::UNAUTHENTICATED:
      return 401;
    case grpc::StatusCode::PERMISSION_DENIED:
      return 403;
    case grpc::StatusCode::NOT_FOUND:
      return 404;
    case grpc::StatusCode::ALREADY_EXISTS:
    case grpc::StatusCode::ABORTED:
      return 409;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return 429;
    case grpc::StatusCode::CANCELLED:
      return 499;
    case grpc::StatusCode::UNIMPLEMENTED:
      return 501;
    case grpc::StatusCode::UNAVAILABLE:
      return 503;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return 504;
    default:
      return 500;
  }
}

}  // namespace waystar::inspect
