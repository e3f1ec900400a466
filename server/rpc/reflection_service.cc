#include "server/rpc/reflection_service.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "grpc/health/v1/health.pb.h"
#include "grpc/reflection/v1/reflection.pb.h"
#include "grpcpp/impl/rpc_service_method.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"

namespace waystar::rpc {
namespace {

using ::google::protobuf::DescriptorPool;
using ::google::protobuf::FileDescriptor;
using Request = grpc::reflection::v1::ServerReflectionRequest;
using Response = grpc::reflection::v1::ServerReflectionResponse;

constexpr const char* kServices[] = {"grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
                                     "waystar.v1.MapService", "waystar.v1.PathService",
                                     "waystar.v1.ServerService"};

const DescriptorPool& Pool() { return *DescriptorPool::generated_pool(); }

void FillNotFound(const std::string& what, Response& response) {
  response.mutable_error_response()->set_error_code(grpc::StatusCode::NOT_FOUND);
  response.mutable_error_response()->set_error_message(absl::StrCat("there is no ", what));
}

// Adds the file and those that it imports, each once.
void AddFiles(const FileDescriptor& file, absl::flat_hash_set<const FileDescriptor*>& added,
              grpc::reflection::v1::FileDescriptorResponse& files) {
  if (!added.insert(&file).second) {
    return;
  }
  google::protobuf::FileDescriptorProto proto;
  file.CopyTo(&proto);
  files.add_file_descriptor_proto(proto.SerializeAsString());
  for (int i = 0; i < file.dependency_count(); ++i) {
    AddFiles(*file.dependency(i), added, files);
  }
}

void FillFile(const FileDescriptor* file, const std::string& what, Response& response) {
  if (file == nullptr) {
    FillNotFound(what, response);
    return;
  }
  absl::flat_hash_set<const FileDescriptor*> added;
  AddFiles(*file, added, *response.mutable_file_descriptor_response());
}

const FileDescriptor* FileOfExtension(const grpc::reflection::v1::ExtensionRequest& extension) {
  const auto* const type = Pool().FindMessageTypeByName(extension.containing_type());
  const auto* const field =
      type == nullptr ? nullptr : Pool().FindExtensionByNumber(type, extension.extension_number());
  return field == nullptr ? nullptr : field->file();
}

void FillExtensionNumbers(const std::string& type_name, Response& response) {
  const auto* const type = Pool().FindMessageTypeByName(type_name);
  if (type == nullptr) {
    FillNotFound(absl::StrCat("message ", type_name), response);
    return;
  }
  std::vector<const google::protobuf::FieldDescriptor*> extensions;
  Pool().FindAllExtensions(type, &extensions);
  auto& numbers = *response.mutable_all_extension_numbers_response();
  numbers.set_base_type_name(type_name);
  for (const auto* const extension : extensions) {
    numbers.add_extension_number(extension->number());
  }
}

void Fill(const Request& request, Response& response) {
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  switch (request.message_request_case()) {
    case Request::kFileByFilename:
      FillFile(Pool().FindFileByName(request.file_by_filename()),
               absl::StrCat("file ", request.file_by_filename()), response);
      break;
    case Request::kFileContainingSymbol:
      FillFile(Pool().FindFileContainingSymbol(request.file_containing_symbol()),
               absl::StrCat("symbol ", request.file_containing_symbol()), response);
      break;
    case Request::kFileContainingExtension: {
      const auto& extension = request.file_containing_extension();
      FillFile(FileOfExtension(extension),
               absl::StrCat("extension ", extension.extension_number(), " of ", extension.containing_type()),
               response);
      break;
    }
    case Request::kAllExtensionNumbersOfType:
      FillExtensionNumbers(request.all_extension_numbers_of_type(), response);
      break;
    case Request::kListServices:
      for (const char* const name : kServices) {
        response.mutable_list_services_response()->add_service()->set_name(name);
      }
      break;
    case Request::MESSAGE_REQUEST_NOT_SET:
      response.mutable_error_response()->set_error_code(grpc::StatusCode::INVALID_ARGUMENT);
      response.mutable_error_response()->set_error_message("the request asks for nothing");
      break;
  }
}

// One read or write is on its way at a time, and whoever sees it end begins the next. Deletes itself.
class ReflectionCall final : public grpc::ServerBidiReactor<Request, Response> {
 public:
  ReflectionCall() { StartRead(&request_); }

  void OnReadDone(bool ok) override {
    if (!ok) {
      Finish(grpc::Status::OK);
      return;
    }
    response_.Clear();
    Fill(request_, response_);
    StartWrite(&response_);
  }

  void OnWriteDone(bool ok) override {
    if (!ok) {
      Finish(grpc::Status::CANCELLED);
      return;
    }
    StartRead(&request_);
  }

  void OnDone() override { delete this; }

 private:
  Request request_;
  Response response_;
};

}  // namespace

ReflectionService::ReflectionService() {
  // The library serves health without its descriptor.
  google::protobuf::LinkMessageReflection<grpc::health::v1::HealthCheckRequest>();
  int index = 0;
  for (const char* const path : {"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
                                 "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"}) {
    AddMethod(new grpc::internal::RpcServiceMethod(path, grpc::internal::RpcMethod::BIDI_STREAMING, nullptr));
    MarkMethodCallback(index++, new grpc::internal::CallbackBidiHandler<Request, Response>(
                                    [](grpc::CallbackServerContext*) { return new ReflectionCall(); }));
  }
}

}  // namespace waystar::rpc
