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

// Message that is written part by part, in any order: concatenated protobuf messages parse as their merge. It
// avoids messages in memory for fields that are slow to write that way.
//
// Parts are stored in the arena of the message that this stands for, and live as long.
//
// Thread safety: one thread at a time; several at once for different messages in one arena.
class WrittenMessage {
 public:
  // REQUIRES: `message` is in an arena.
  explicit WrittenMessage(const google::protobuf::Message& message) : message_(message) {}

  // Returns true if it stands for this very message.
  bool StandsFor(const google::protobuf::Message& message) const { return &message == &message_; }

  // Adds the fields that `write` writes at `out`, at most `most_bytes` bytes. It returns their end.
  void Add(std::size_t most_bytes, absl::FunctionRef<std::uint8_t*(std::uint8_t* out)> write);
  // Adds the current fields of a message of that type.
  void AddFieldsOf(const google::protobuf::Message& message);
  // Adds a field that is a message, in the same arena.
  void AddField(int number, const WrittenMessage& value);

  // Returns true if nothing was added.
  bool empty() const { return parts_.empty(); }
  std::size_t size() const { return size_; }
  // Removes everything. It stands for the same message.
  void Clear();
  grpc::ByteBuffer ToBytes() const;

 private:
  const google::protobuf::Message& message_;
  // Sufficient for an answer in a batch.
  absl::InlinedVector<absl::string_view, 4> parts_;
  std::size_t size_ = 0;
};

}  // namespace waystar::rpc
