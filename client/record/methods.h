// What is known of the methods whose calls are recorded. They are named "waystar.v1.PathService/FindPath".
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <memory>
#include <string>

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

// Null for one of other services, or that is not known here.
const google::protobuf::MethodDescriptor* FindMethod(absl::string_view method);

// Those of Waystar's services.
bool IsRecorded(absl::string_view method);

// Whether what the server says is recorded, too: not that of watches, traces and exports.
bool HasRecordedAnswers(absl::string_view method);

// Null if the bytes are no such message.
std::unique_ptr<google::protobuf::Message> ParseAs(const google::protobuf::Descriptor& type,
                                                   const std::string& bytes);

std::string BytesOf(const grpc::ByteBuffer& buffer);

// With the details that the server sent.
void FillEnd(const grpc::Status& status, google::rpc::Status& end);

}  // namespace waystar::record
