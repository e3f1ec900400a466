#include "server/service/call/request_id.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/random/random.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace waystar::rpc {
namespace {

constexpr char kTraceParentKey[] = "traceparent";

constexpr std::size_t kMaxRequestIdBytes = 128;

// Position of the trace id in a traceparent: "00-<32 digits>-<16 digits>-<2 digits>".
constexpr std::size_t kTraceIdBegin = 3;
constexpr std::size_t kTraceIdDigits = 32;
constexpr std::size_t kTraceParentBytes = 55;

// Returns an empty value if the key is missing.
absl::string_view MetadataOf(const grpc::ServerContextBase& context, const char* key) {
  const auto found = context.client_metadata().find(key);
  return found == context.client_metadata().end()
             ? absl::string_view()
             : absl::string_view(found->second.data(), found->second.size());
}

// Returns true for a hexadecimal digit in lower case, as the standard requires.
bool IsHexDigit(char c) {
  return absl::ascii_isdigit(static_cast<unsigned char>(c)) || (c >= 'a' && c <= 'f');
}

absl::optional<absl::string_view> TraceId(const grpc::ServerContextBase& context) {
  const absl::string_view parent = MetadataOf(context, kTraceParentKey);
  // Later versions may be longer.
  if (parent.size() < kTraceParentBytes || parent[kTraceIdBegin - 1] != '-' ||
      parent[kTraceIdBegin + kTraceIdDigits] != '-') {
    return absl::nullopt;
  }
  const absl::string_view id = parent.substr(kTraceIdBegin, kTraceIdDigits);
  if (!std::all_of(id.begin(), id.end(), IsHexDigit) ||
      std::all_of(id.begin(), id.end(), [](char c) { return c == '0'; })) {
    return absl::nullopt;
  }
  return id;
}

}  // namespace

absl::optional<absl::string_view> SentRequestId(const grpc::ServerContextBase& context) {
  const absl::string_view id = MetadataOf(context, kRequestIdKey);
  if (id.empty() || id.size() > kMaxRequestIdBytes || !std::all_of(id.begin(), id.end(), [](char c) {
        return absl::ascii_isgraph(static_cast<unsigned char>(c));
      })) {
    return absl::nullopt;
  }
  return id;
}

bool HasSentId(const grpc::ServerContextBase& context) {
  return !MetadataOf(context, kRequestIdKey).empty() || !MetadataOf(context, kTraceParentKey).empty();
}

std::string RequestIdOf(const grpc::ServerContextBase& context) {
  if (const auto sent = SentRequestId(context)) {
    return std::string(*sent);
  }
  if (const auto trace = TraceId(context)) {
    return std::string(*trace);
  }
  thread_local absl::BitGen generator;
  return absl::StrCat("local-", absl::Hex(absl::Uniform<std::uint64_t>(generator), absl::kZeroPad16));
}

}  // namespace waystar::rpc
