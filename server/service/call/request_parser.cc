#include "server/service/call/request_parser.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/message.h"
#include "google/protobuf/wire_format_lite.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/service/call/request_weight.h"

namespace waystar::rpc {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// Smaller messages cannot take much memory, whatever they contain.
constexpr std::size_t kWeighedBytes = CallMemory::kCountedBytes;
// A batch of edits that each block one cell takes about 35 times its size.
constexpr std::size_t kMostGrowth = 40;
constexpr std::size_t kAlwaysAllowed = std::size_t{16} << 20;

// Returns the path of the first string field in a message of that type that is not UTF-8.
std::optional<std::string> FindBadString(absl::string_view bytes, const Descriptor& type, int depth = 0) {
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
  std::map<int, int> seen;
  while (const std::uint32_t tag = in.ReadTag()) {
    const int number = WireFormatLite::GetTagFieldNumber(tag);
    const FieldDescriptor* known = type.FindFieldByNumber(number);
    if (known == nullptr ||
        WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!WireFormatLite::SkipField(&in, tag)) {
        break;
      }
      continue;
    }
    std::uint32_t length = 0;
    if (!in.ReadVarint32(&length)) {
      break;
    }
    const auto begin = static_cast<std::size_t>(in.CurrentPosition());
    if (length > bytes.size() - begin) {
      break;
    }
    const absl::string_view value = bytes.substr(begin, length);
    if (!in.Skip(static_cast<int>(length))) {
      break;
    }
    std::string path(known->name());
    if (known->is_repeated()) {
      absl::StrAppend(&path, "[", seen[number]++, "]");
    }
    if (known->type() == FieldDescriptor::TYPE_STRING &&
        !WireFormatLite::VerifyUtf8String(value.data(), static_cast<int>(value.size()), WireFormatLite::PARSE,
                                          path.c_str())) {
      return path;
    }
    if (known->type() == FieldDescriptor::TYPE_MESSAGE && depth < kMaxMessageDepth) {
      if (const std::optional<std::string> found = FindBadString(value, *known->message_type(), depth + 1)) {
        return absl::StrCat(path, ".", *found);
      }
    }
  }
  return std::nullopt;
}

absl::StatusOr<std::size_t> Weigh(grpc::ByteBuffer& bytes, const Descriptor& type) {
  const std::size_t length = bytes.Length();
  if (length < kWeighedBytes) {
    return length;
  }
  grpc::ProtoBufferReader reader(&bytes);
  WAYSTAR_ASSIGN_OR_RETURN(const std::size_t weight,
                           WeighRequest(reader, type, std::max(kAlwaysAllowed, kMostGrowth * length)));
  return length + weight;
}

}  // namespace

absl::Status ParseRequest(const grpc::ByteBuffer& bytes, google::protobuf::Message& request,
                          CallMemory::Share& memory) {
  grpc::ByteBuffer buffer(bytes);
  WAYSTAR_ASSIGN_OR_RETURN(const std::size_t weight, Weigh(buffer, *request.GetDescriptor()));
  WAYSTAR_RETURN_IF_ERROR(memory.Resize(weight));
  {
    grpc::ProtoBufferReader reader(&buffer);
    if (reader.status().ok() && request.ParseFromZeroCopyStream(&reader)) {
      return absl::OkStatus();
    }
  }
  if (grpc::Slice flat; buffer.DumpToSingleSlice(&flat).ok()) {
    const absl::string_view all(reinterpret_cast<const char*>(flat.begin()), flat.size());
    if (const std::optional<std::string> field = FindBadString(all, *request.GetDescriptor())) {
      return MakeError(ErrorReason::kBadValue, *field, absl::StrCat(*field, " is not valid UTF-8"));
    }
  }
  return MakeError(ErrorReason::kBadValue, "",
                   absl::StrCat("the request is not a ", request.GetDescriptor()->full_name(), " message"));
}

}  // namespace waystar::rpc
