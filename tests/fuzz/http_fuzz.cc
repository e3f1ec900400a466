// Heads and bodies of HTTP requests. The first four bytes say in what pieces bodies arrive; the rest is what
// a client sends, one request after another.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/service/transport/http/request.h"
#include "tests/fuzz/require.h"

namespace waystar::fuzz {
namespace {

using http::ParseRequestHead;
using http::RequestBody;
using http::RequestHead;

constexpr std::size_t kMaxBodyBytes = 256;
constexpr std::size_t kCuts = 4;
constexpr std::string_view kEmptyLine = "\r\n\r\n";

// What came of a body.
struct Outcome {
  bool is_refused = false;
  bool is_done = false;
  // What belongs to the body, once it is done.
  std::size_t used = 0;
  std::string text;
  // What is left over until more arrives.
  std::string waiting;
};

// Returns whether it may be the beginning of a last chunk, which is not judged before it is all there.
bool Waits(const Outcome& outcome) {
  return !outcome.is_refused && !outcome.is_done && outcome.waiting.size() < 5 &&
         outcome.waiting.starts_with('0');
}

// Returns whether the outcomes of the same bytes in other pieces are the same, apart from a refusal that is
// still to come.
bool Agree(const Outcome& a, const Outcome& b) {
  if (a.is_refused != b.is_refused) {
    return Waits(a) || Waits(b);
  }
  return a.is_done == b.is_done && (!a.is_done || (a.used == b.used && a.text == b.text));
}

// Puts the bytes as a connection does, in pieces of these sizes by turns: what is not used comes again, with
// more.
Outcome Read(const RequestHead& head, std::string_view bytes, const std::vector<std::size_t>& sizes) {
  RequestBody body(head, kMaxBodyBytes);
  Outcome outcome;
  std::string& waiting = outcome.waiting;
  std::size_t given = 0;
  for (std::size_t turn = 0; !body.is_done() && given < bytes.size(); ++turn) {
    const std::size_t piece = std::min(sizes[turn % sizes.size()], bytes.size() - given);
    waiting += bytes.substr(given, piece);
    given += piece;
    const RequestBody::Progress progress = body.Put(waiting);
    Require(progress.used <= waiting.size(), "no more bytes are used than are given");
    if (progress.refusal != 0) {
      Require(progress.refusal == 400 || progress.refusal == 413, "the code of a refusal");
      return {.is_refused = true};
    }
    waiting.erase(0, progress.used);
    outcome.used += progress.used;
    Require(outcome.used + waiting.size() == given, "what is used and what is left are what was given");
    Require(body.size() <= kMaxBodyBytes, "a body is within its limit");
  }
  outcome.is_done = body.is_done();
  if (outcome.is_done) {
    outcome.text = body.Take();
  }
  return outcome;
}

// Returns the values of all lines of a head that a program could take for a field of that name.
std::vector<std::string> Values(std::string_view head, absl::string_view name) {
  std::vector<std::string> values;
  while (!head.empty()) {
    const std::size_t end = head.find_first_of("\r\n");
    const std::string_view line = head.substr(0, end);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos &&
        absl::EqualsIgnoreCase(absl::StripAsciiWhitespace({line.data(), colon}), name)) {
      values.emplace_back(absl::StripAsciiWhitespace({line.data() + colon + 1, line.size() - colon - 1}));
    }
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
  }
  return values;
}

bool IsClean(std::string_view text) { return text.find_first_of(std::string_view("\r\n\0", 3)) == text.npos; }

void CheckHead(std::string_view text, const RequestHead& head) {
  Require(text.find(kEmptyLine) + kEmptyLine.size() == text.size(), "a head ends with its first empty line");
  const std::vector<std::string> lengths = Values(text, "content-length");
  const std::vector<std::string> codings = Values(text, "transfer-encoding");
  Require(lengths.size() + codings.size() <= 1, "one length, or one transfer coding");
  Require(head.is_chunked == !codings.empty(), "a body with a coding is chunked");
  Require(codings.empty() || absl::EqualsIgnoreCase(codings[0], "chunked"), "there is no other coding");
  if (lengths.empty()) {
    Require(head.content_length == 0, "without a field there is no length");
  } else {
    Require(std::all_of(lengths[0].begin(), lengths[0].end(), absl::ascii_isdigit), "a length has digits");
    const std::string digits =
        lengths[0].substr(std::min(lengths[0].find_first_not_of('0'), lengths[0].size() - 1));
    Require(digits == absl::StrCat(head.content_length), "the length is that of the field");
  }
  const std::size_t hosts = Values(text, "host").size();
  Require(hosts == 1 || (hosts == 0 && head.is_version_1_0), "there is one host");
  Require(IsClean(head.method) && IsClean(head.path), "the first line is one line");
  Require(!head.method.empty(), "there is a method");
  for (const auto& [name, value] : head.fields) {
    Require(!name.empty() && IsClean(name) && IsClean(value), "a field is one line");
    Require(name.find_first_of(" \t:") == name.npos, "a name is one word");
  }
}

// Returns how long the head and the body are; nothing if the connection ends or waits for more.
std::optional<std::size_t> ReadRequest(std::string_view input, const std::vector<std::size_t>& sizes) {
  const std::size_t end = input.find(kEmptyLine);
  if (end == std::string_view::npos) {
    Require(std::holds_alternative<int>(ParseRequestHead(input)), "a head without an end is refused");
    return std::nullopt;
  }
  const std::string_view text = input.substr(0, end + kEmptyLine.size());
  if (text.size() < input.size()) {
    Require(std::holds_alternative<int>(ParseRequestHead(input)),
            "a head with something behind it is refused");
  }
  const auto parsed = ParseRequestHead(text);
  if (const int* const code = std::get_if<int>(&parsed); code != nullptr) {
    Require(*code == 400 || *code == 417 || *code == 431 || *code == 501 || *code == 505,
            "the code of a refusal");
    return std::nullopt;
  }
  const auto& head = std::get<RequestHead>(parsed);
  CheckHead(text, head);
  if (head.content_length > kMaxBodyBytes) {
    return std::nullopt;
  }
  const std::string_view rest = input.substr(text.size());
  const Outcome whole = Read(head, rest, {std::max<std::size_t>(rest.size(), 1)});
  Require(Agree(Read(head, rest, {1}), whole), "byte by byte a body is the same");
  Require(Agree(Read(head, rest, sizes), whole), "in pieces a body is the same");
  if (!whole.is_done) {
    return std::nullopt;
  }
  Require(head.is_chunked || (whole.used == head.content_length && rest.substr(0, whole.used) == whole.text),
          "a body of known length is what was sent");
  Require(whole.text.size() <= whole.used, "a body is no longer than what was sent");
  return text.size() + whole.used;
}

}  // namespace
}  // namespace waystar::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace waystar::fuzz;
  if (size < kCuts) {
    return 0;
  }
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < kCuts; ++i) {
    sizes.push_back(1 + data[i] % 64);
  }
  std::string_view input(reinterpret_cast<const char*>(data) + kCuts, size - kCuts);
  while (const std::optional<std::size_t> used = ReadRequest(input, sizes)) {
    input.remove_prefix(*used);
  }
  return 0;
}
