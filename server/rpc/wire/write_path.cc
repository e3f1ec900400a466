#include "server/rpc/wire/write_path.h"

#include <bit>
#include <cstddef>
#include <cstdint>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

constexpr std::uint8_t TagOf(int field, WireFormatLite::WireType type) {
  return static_cast<std::uint8_t>(WireFormatLite::MakeTag(field, type));
}

// Tag and length of a place, which never takes 128 bytes.
constexpr std::size_t kHeadBytes = 2;
constexpr std::size_t kMostPointBytes = kHeadBytes + 2 * (1 + 10);
constexpr std::size_t kMostPositionBytes = kHeadBytes + 3 * (1 + 8);

// What is 0 is left out.
template <int kField>
std::uint8_t* WriteCoordinate(std::int32_t value, std::uint8_t* out) {
  if (value == 0) {
    return out;
  }
  *out++ = TagOf(kField, WireFormatLite::WIRETYPE_VARINT);
  return CodedOutputStream::WriteVarint32SignExtendedToArray(value, out);
}

template <int kField>
std::uint8_t* WriteCoordinate(double value, std::uint8_t* out) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  if (bits == 0) {
    return out;
  }
  *out++ = TagOf(kField, WireFormatLite::WIRETYPE_FIXED64);
  return CodedOutputStream::WriteLittleEndian64ToArray(bits, out);
}

// A field of that number, which `write_parts` writes the parts of.
template <int kField, typename WriteParts>
std::uint8_t* WritePlace(std::uint8_t* out, WriteParts write_parts) {
  std::uint8_t* const begin = out + kHeadBytes;
  std::uint8_t* const end = write_parts(begin);
  out[0] = TagOf(kField, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  out[1] = static_cast<std::uint8_t>(end - begin);
  return end;
}

}  // namespace

void WritePoints(absl::Span<const core::Cell> points, WrittenMessage& answer) {
  answer.Add(points.size() * kMostPointBytes, [points](std::uint8_t* out) {
    for (const core::Cell point : points) {
      out = WritePlace<v1::FindPathResponse::kPointsFieldNumber>(out, [point](std::uint8_t* part) {
        part = WriteCoordinate<v1::Cell::kXFieldNumber>(point.x, part);
        return WriteCoordinate<v1::Cell::kYFieldNumber>(point.y, part);
      });
    }
    return out;
  });
}

void WritePositions(absl::Span<const core::Cell> points, const core::WorldFrame& frame,
                    WrittenMessage& answer) {
  answer.Add(points.size() * kMostPositionBytes, [points, &frame](std::uint8_t* out) {
    for (const core::Cell point : points) {
      const core::Position center = frame.CenterOf(point);
      out = WritePlace<v1::FindPathResponse::kPositionsFieldNumber>(out, [&center](std::uint8_t* part) {
        part = WriteCoordinate<v1::Position::kXFieldNumber>(center.x, part);
        part = WriteCoordinate<v1::Position::kYFieldNumber>(center.y, part);
        return WriteCoordinate<v1::Position::kZFieldNumber>(center.z, part);
      });
    }
    return out;
  });
}

}  // namespace waystar::rpc
