// Messages and errors as JSON, by the JSON mapping of proto3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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

// Threads that convert JSON, to keep that off the threads that serve sockets. Small messages have threads of
// their own, so they never wait for large ones. In each lane, clients take turns message by message. One
// client gets at most half of the threads for large messages, but at least one; and it may have at most as
// many waiting messages as it leaves free.
//
// Thread safety: any method may be called from any thread, except Stop and the destructor on one of the pool.
class JsonPool {
 public:
  // Maximum size of a small message in bytes.
  static constexpr std::size_t kSmallBytes = std::size_t{64} << 10;

  // `threads` is the number of threads for large messages, at least 1.
  explicit JsonPool(int threads);
  JsonPool(const JsonPool&) = delete;
  JsonPool& operator=(const JsonPool&) = delete;
  ~JsonPool();

  // Waits for the running tasks, drops the others, and takes no more.
  void Stop();

  // Queues a task that converts a message of that size. `client` identifies the client. Returns false, and
  // destroys the task, if too many wait or the pool has stopped.
  bool Run(std::uint64_t client, std::size_t bytes, std::function<void()> task);

 private:
  class Lane;

  const std::unique_ptr<Lane> small_;
  const std::unique_ptr<Lane> large_;
};

}  // namespace waystar::http
