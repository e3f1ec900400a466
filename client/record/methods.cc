#include "client/record/methods.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"

namespace waystar::record {

const google::protobuf::MethodDescriptor* FindMethod(absl::string_view method) {
  return google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
      absl::StrReplaceAll(method, {{"/", "."}}));
}

bool IsRecorded(absl::string_view method) { return absl::StartsWith(method, "waystar.v1."); }

bool HasRecordedAnswers(absl::string_view method) {
  const google::protobuf::MethodDescriptor* const found = FindMethod(method);
  return found != nullptr &&
         (!found->server_streaming() || method == kStreamFindPath || method == kStreamObstacleUpdates);
}

std::unique_ptr<google::protobuf::Message> ParseAs(const google::protobuf::Descriptor& type,
                                                   const std::string& bytes) {
  std::unique_ptr<google::protobuf::Message> message(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type)->New());
  return message->ParseFromString(bytes) ? std::move(message) : nullptr;
}

std::string BytesOf(const grpc::ByteBuffer& buffer) {
  grpc::Slice bytes;
  // Of bytes that are not compressed, which cannot fail.
  static_cast<void>(buffer.DumpToSingleSlice(&bytes));
  return {reinterpret_cast<const char*>(bytes.begin()), bytes.size()};
}

void FillEnd(const grpc::Status& status, google::rpc::Status& end) {
  if (!status.error_details().empty() && end.ParseFromString(status.error_details())) {
    return;
  }
  end.set_code(static_cast<int>(status.error_code()));
  end.set_message(status.error_message());
}

}  // namespace waystar::record
