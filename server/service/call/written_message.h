// Message in its wire format, in place of one in memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"
#include "grpcpp/support/byte_buffer.h"

namespace waystar::rpc {

// Message that is written part by part, in any order: concatenated protobuf messages parse as their merge. So
// fields that take long to write by way of messages in memory need not go that way.
//
// Parts lie in the arena of the message that this stands for, and are gone with it.
//
// Thread safety: one thread at a time; several at once for different messages in one arena.
class WrittenMessage {
 public:
  // REQUIRES: `message` is in an arena.
  explicit WrittenMessage(const google::protobuf::Message& message) : message_(message) {}

  // Returns whether it stands for that very message.
  bool StandsFor(const google::protobuf::Message& message) const { return &message == &message_; }

  // Adds the fields that `write` writes at `out`, of at most so many bytes. It returns where they end.
  void Add(std::size_t most_bytes, absl::FunctionRef<std::uint8_t*(std::uint8_t* out)> write);
  // Adds the fields that a message of that type has now.
  void AddFieldsOf(const google::protobuf::Message& message);
  // Adds a field that is a message, in the same arena.
  void AddField(int number, const WrittenMessage& value);

  // Returns whether nothing was added.
  bool empty() const { return parts_.empty(); }
  std::size_t size() const { return size_; }
  // Removes what was added. It stands for the same message.
  void Clear();
  grpc::ByteBuffer ToBytes() const;

 private:
  const google::protobuf::Message& message_;
  // This is enough for an answer in a batch.
  absl::InlinedVector<absl::string_view, 4> parts_;
  std::size_t size_ = 0;
};

}  // namespace waystar::rpc
