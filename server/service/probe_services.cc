#include "server/service/probe_services.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "grpc/reflection/v1/reflection.pb.h"
#include "grpcpp/impl/rpc_service_method.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "server/base/error.h"
#include "server/service/call/call_context.h"
#include "server/service/call/raw_service.h"
#include "server/service/call/request_parser.h"
#include "server/service/call/streaming_call.h"

namespace waystar::rpc {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using grpc::health::v1::HealthListRequest;
using grpc::health::v1::HealthListResponse;

// Longer names belong to no service.
constexpr std::size_t kMaxNameBytes = 200;

}  // namespace

// Writes the status initially and after each change. A slow client misses intermediate statuses.
class HealthWatch final : public WritingCall {
 public:
  HealthWatch(HealthService& health, grpc::CallbackServerContext& rpc, const grpc::ByteBuffer& request)
      : WritingCall(Kind::kOpenEnded, health.probes_, rpc, health.uncounted_),
        health_(health),
        request_bytes_(request) {}

  void OnNews() { const Change change(*this); }

 private:
  absl::Status Admit() override {
    WAYSTAR_RETURN_IF_ERROR(ParseRequest(request_bytes_, request_, memory_));
    if (request_.service().size() > kMaxNameBytes) {
      return MakeError(ErrorReason::kBadValue, "service",
                       "service must be the name of a service of this server");
    }
    WAYSTAR_RETURN_IF_ERROR(TakeProbeSlot(server_.watches));
    health_.Add(request_.service(), std::static_pointer_cast<HealthWatch>(shared_from_this()));
    is_added_ = true;
    return absl::OkStatus();
  }

  void Advance() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!is_added_ || is_writing() || end().has_value()) {
      return;
    }
    const HealthService::Status status = health_.StatusOf(request_.service());
    if (status != sent_) {
      sent_ = status;
      HealthCheckResponse message;
      message.set_status(status);
      Write(Serialize(message));
    }
  }

  void OnDetached() override {
    if (is_added_) {
      health_.Remove(request_.service(), *this);
    }
  }

  HealthService& health_;
  // Valid until the watch is admitted.
  const grpc::ByteBuffer& request_bytes_;
  HealthCheckRequest request_;
  bool is_added_ = false;
  std::optional<HealthService::Status> sent_ ABSL_GUARDED_BY(mutex_);
};

HealthService::HealthService(const ServerContext& probes) : probes_(probes) {
  using Bytes = grpc::ByteBuffer;
  using Rpc = grpc::CallbackServerContext;
  const auto mark = [this](const char* name, std::unique_ptr<grpc::internal::MethodHandler> handler) {
    const auto& health = *HealthCheckRequest::descriptor()->file()->FindServiceByName("Health");
    const int method = health.FindMethodByName(name)->index();
    MarkMethodStreamed(method, nullptr);
    MarkMethodRawCallback(method, new AfterRequest(std::move(handler), probes_));
  };
  mark("Check",
       std::make_unique<grpc::internal::CallbackUnaryHandler<HealthCheckRequest, HealthCheckResponse>>(
           [this](Rpc* rpc, const HealthCheckRequest* request, HealthCheckResponse* response) {
             const Status status = StatusOf(request->service());
             response->set_status(status);
             auto* const reactor = rpc->DefaultReactor();
             reactor->Finish(status == HealthCheckResponse::SERVICE_UNKNOWN
                                 ? grpc::Status(grpc::StatusCode::NOT_FOUND, "unknown service")
                                 : grpc::Status::OK);
             return reactor;
           }));
  mark("List", std::make_unique<grpc::internal::CallbackUnaryHandler<HealthListRequest, HealthListResponse>>(
                   [this](Rpc* rpc, const HealthListRequest* /*request*/, HealthListResponse* response) {
                     FillStatuses(*response);
                     auto* const reactor = rpc->DefaultReactor();
                     reactor->Finish(grpc::Status::OK);
                     return reactor;
                   }));
  mark("Watch",
       std::make_unique<grpc::internal::CallbackServerStreamingHandler<Bytes, Bytes>>(
           [this](Rpc* rpc, const Bytes* request) { return StartCall<HealthWatch>(*this, *rpc, *request); }));
}

void HealthService::Set(absl::string_view service, bool is_serving) {
  Watches watches;
  {
    MutexLock lock(mutex_);
    Service& known = services_[service];
    known.status = is_serving ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
    watches = known.watches;
  }
  for (const std::weak_ptr<HealthWatch>& each : watches) {
    if (const std::shared_ptr<HealthWatch> watch = each.lock()) {
      watch->OnNews();
    }
  }
}

void HealthService::Add(const std::string& service, std::weak_ptr<HealthWatch> watch) {
  MutexLock lock(mutex_);
  services_[service].watches.push_back(std::move(watch));
}

void HealthService::Remove(const std::string& service, const HealthWatch& watch) {
  MutexLock lock(mutex_);
  const auto found = services_.find(service);
  std::erase_if(found->second.watches, [&](const auto& each) { return each.lock().get() == &watch; });
  if (found->second.watches.empty() && found->second.status == HealthCheckResponse::SERVICE_UNKNOWN) {
    services_.erase(found);
  }
}

HealthService::Status HealthService::StatusOf(const std::string& service) const {
  MutexLock lock(mutex_);
  const auto found = services_.find(service);
  return found == services_.end() ? HealthCheckResponse::SERVICE_UNKNOWN : found->second.status;
}

void HealthService::FillStatuses(HealthListResponse& response) const {
  MutexLock lock(mutex_);
  for (const auto& [name, service] : services_) {
    if (service.status != HealthCheckResponse::SERVICE_UNKNOWN) {
      (*response.mutable_statuses())[name].set_status(service.status);
    }
  }
}

namespace {

using ::google::protobuf::DescriptorPool;
using ::google::protobuf::FileDescriptor;
using Request = grpc::reflection::v1::ServerReflectionRequest;
using Response = grpc::reflection::v1::ServerReflectionResponse;

constexpr const char* kServices[] = {"grpc.health.v1.Health",     "grpc.reflection.v1.ServerReflection",
                                     "waystar.v1.MapService",     "waystar.v1.PathService",
                                     "waystar.v1.PictureService", "waystar.v1.ServerService"};

const DescriptorPool& Pool() { return *DescriptorPool::generated_pool(); }

void FillNotFound(const std::string& what, Response& response) {
  response.mutable_error_response()->set_error_code(grpc::StatusCode::NOT_FOUND);
  response.mutable_error_response()->set_error_message(absl::StrCat("there is no ", what));
}

// Adds the file and its transitive imports, each once.
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

// People and tools ask a few questions in sequence.
constexpr TransferTimes kTimes{.timeout = absl::Minutes(10), .stall = absl::Minutes(1)};

// One read or write is pending at a time.
class ReflectionCall final : public ReadingWritingCall {
 public:
  ReflectionCall(const ServerContext& probes, grpc::CallbackServerContext& rpc, MethodStatistics& statistics)
      : ReadingWritingCall(Kind::kOpenEnded, probes, rpc, statistics) {}

  void OnReadDone(bool ok) override {
    const Change change(*this);
    is_asked_ = EndRead(ok) && ok;
    if (!ok) {
      SetEnd(absl::OkStatus());
    }
  }

 private:
  absl::Status Admit() override {
    WAYSTAR_RETURN_IF_ERROR(TakeProbeSlot(server_.streams));
    SetTimes(kTimes);
    MutexLock lock(mutex_);
    is_admitted_ = true;
    return absl::OkStatus();
  }

  void Advance() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!is_admitted_ || is_writing() || end().has_value()) {
      return;
    }
    if (!is_asked_) {
      Read();
      return;
    }
    is_asked_ = false;
    Request request;
    Response response;
    if (const absl::Status status = ParseRequest(message(), request, memory_); !status.ok()) {
      SetEnd(status);
      return;
    }
    Fill(request, response);
    Write(Serialize(response));
  }

  bool is_admitted_ ABSL_GUARDED_BY(mutex_) = false;
  // True if a request has been read and not answered.
  bool is_asked_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

ReflectionService::ReflectionService(const ServerContext& probes) {
  int index = 0;
  for (const char* const path : {"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
                                 "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"}) {
    AddMethod(new grpc::internal::RpcServiceMethod(path, grpc::internal::RpcMethod::BIDI_STREAMING, nullptr));
    MarkMethodRawCallback(index++,
                          new grpc::internal::CallbackBidiHandler<grpc::ByteBuffer, grpc::ByteBuffer>(
                              [this, &probes](grpc::CallbackServerContext* rpc) {
                                return StartCall<ReflectionCall>(probes, *rpc, uncounted_);
                              }));
  }
}

}  // namespace waystar::rpc
