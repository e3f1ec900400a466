// What is known of the methods whose calls are recorded. They are named "waystar.v1.PathService/FindPath".
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/rpc/status.pb.h"

namespace waystar::record {

inline constexpr char kFindPath[] = "waystar.v1.PathService/FindPath";
inline constexpr char kStreamFindPath[] = "waystar.v1.PathService/StreamFindPath";
inline constexpr char kUpdateObstacles[] = "waystar.v1.MapService/UpdateObstacles";
inline constexpr char kStreamObstacleUpdates[] = "waystar.v1.MapService/StreamObstacleUpdates";
inline constexpr char kImportMap[] = "waystar.v1.MapService/ImportMap";
inline constexpr char kCreateMap[] = "waystar.v1.MapService/CreateMap";
inline constexpr char kDeleteMap[] = "waystar.v1.MapService/DeleteMap";

// Finds a method of Waystar's services. Null if it belongs to another service or is not known here.
const google::protobuf::MethodDescriptor* FindMethod(absl::string_view method);

// Whether the calls of a method are recorded, as those of Waystar's services are.
bool IsRecorded(absl::string_view method);

// Whether the answers are recorded too, as those of all methods but watches, traces and exports are.
bool HasRecordedAnswers(absl::string_view method);

// Parses a message. Null if the bytes are no such message.
std::unique_ptr<google::protobuf::Message> ParseAs(const google::protobuf::Descriptor& type,
                                                   const std::string& bytes);

std::string BytesOf(const grpc::ByteBuffer& buffer);

// Converts a status; its details become payloads.
absl::Status ToStatus(const google::rpc::Status& status);

// Fills in a status with the details that the server sent.
void FillEnd(const grpc::Status& status, google::rpc::Status& end);

}  // namespace waystar::record
