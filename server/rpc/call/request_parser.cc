#include "server/rpc/call/request_parser.h"

#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/stubs/common.h"
#include "google/protobuf/unknown_field_set.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "server/base/error.h"

namespace waystar::rpc {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

// Returns the path of the first string field that is not UTF-8.
std::optional<std::string> FindBadString(const UnknownFieldSet& fields, const Descriptor& type) {
  std::map<int, int> seen;
  for (int i = 0; i < fields.field_count(); ++i) {
    const UnknownField& field = fields.field(i);
    const FieldDescriptor* known = type.FindFieldByNumber(field.number());
    if (known == nullptr || field.type() != UnknownField::TYPE_LENGTH_DELIMITED) {
      continue;
    }
    std::string path = known->name();
    if (known->is_repeated()) {
      absl::StrAppend(&path, "[", seen[field.number()]++, "]");
    }
    const std::string& bytes = field.length_delimited();
    if (known->type() == FieldDescriptor::TYPE_STRING &&
        !google::protobuf::internal::IsStructurallyValidUTF8(bytes.data(), static_cast<int>(bytes.size()))) {
      return path;
    }
    UnknownFieldSet inner;
    if (known->type() == FieldDescriptor::TYPE_MESSAGE && inner.ParseFromString(bytes)) {
      if (const std::optional<std::string> found = FindBadString(inner, *known->message_type())) {
        return absl::StrCat(path, ".", *found);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

absl::Status ParseRequest(const grpc::ByteBuffer& bytes, google::protobuf::Message& request) {
  grpc::ByteBuffer buffer(bytes);
  {
    grpc::ProtoBufferReader reader(&buffer);
    if (reader.status().ok() && request.ParseFromZeroCopyStream(&reader)) {
      return absl::OkStatus();
    }
  }
  grpc::ProtoBufferReader reader(&buffer);
  UnknownFieldSet fields;
  if (reader.status().ok() && fields.ParseFromZeroCopyStream(&reader)) {
    if (const std::optional<std::string> field = FindBadString(fields, *request.GetDescriptor())) {
      return InvalidArgument(ErrorReason::kBadValue, *field, absl::StrCat(*field, " is not valid UTF-8"));
    }
  }
  return InvalidArgument(
      ErrorReason::kBadValue, "",
      absl::StrCat("the request is not a ", request.GetDescriptor()->full_name(), " message"));
}

}  // namespace waystar::rpc
