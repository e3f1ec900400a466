#include "server/service/transport/http/request.h"

#include <algorithm>
#include <boost/beast/http.hpp>
#include <exception>
#include <functional>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace waystar::http {
namespace {

namespace beast = boost::beast::http;

constexpr int kBadRequest = 400;
constexpr int kExpectationFailed = 417;
constexpr int kFieldsTooLarge = 431;
constexpr int kNotImplemented = 501;
constexpr int kVersionNotSupported = 505;

// Maximum number of fields in a head, and of lines of trailers.
constexpr int kMaxFieldLines = 64;

// Rejects bytes that HTTP implementations interpret differently. Returns an HTTP code, or 0.
int CheckRawHead(absl::string_view text) {
  const std::vector<absl::string_view> lines = absl::StrSplit(text, "\r\n");
  for (const absl::string_view line : lines) {
    const bool has_control =
        std::any_of(line.begin(), line.end(), [](char c) { return absl::ascii_iscntrl(c) && c != '\t'; });
    // A line that begins with a blank is an obsolete continuation of the previous one.
    if (has_control || absl::StartsWith(line, " ") || absl::StartsWith(line, "\t")) {
      return kBadRequest;
    }
  }
  // The first line and the two empty ones at the end are not fields.
  return lines.size() > std::size_t{kMaxFieldLines} + 3 ? kFieldsTooLarge : 0;
}

// Returns the HTTP code for a version that the parser rejects.
int VersionRefusal(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\r'));
  const std::string_view version = line.substr(line.size() - std::min<std::size_t>(line.size(), 8));
  const bool is_version = version.size() == 8 && version.substr(0, 5) == "HTTP/" &&
                          absl::ascii_isdigit(version[5]) && version[6] == '.' &&
                          absl::ascii_isdigit(version[7]);
  const bool is_known = version == "HTTP/1.0" || version == "HTTP/1.1";
  return is_version && !is_known ? kVersionNotSupported : kBadRequest;
}

// The parser's string type differs between versions of Boost.
template <typename Text>
absl::string_view View(const Text& text) {
  return {text.data(), text.size()};
}

// Fills in what the fields say about the message. Returns the HTTP code of a rejection, or 0.
int ReadMeaning(const beast::request<beast::empty_body>& message, RequestHead& head) {
  head.is_version_1_0 = message.version() == 10;
  const std::size_t hosts = message.count(beast::field::host);
  const std::size_t lengths = message.count(beast::field::content_length);
  const std::size_t codings = message.count(beast::field::transfer_encoding);
  const std::size_t expectations = head.is_version_1_0 ? 0 : message.count(beast::field::expect);
  if (hosts > 1 || (hosts == 0 && !head.is_version_1_0) || lengths + codings > 1 ||
      (codings > 0 && head.is_version_1_0)) {
    return kBadRequest;
  }
  head.is_chunked = codings > 0;
  if (head.is_chunked && !absl::EqualsIgnoreCase(View(message[beast::field::transfer_encoding]), "chunked")) {
    return kNotImplemented;
  }
  // The parser would take a list of equal lengths.
  if (lengths > 0 && !absl::SimpleAtoi(View(message[beast::field::content_length]), &head.content_length)) {
    return kBadRequest;
  }
  head.expects_continue =
      expectations == 1 && absl::EqualsIgnoreCase(View(message[beast::field::expect]), "100-continue");
  return head.expects_continue || expectations == 0 ? 0 : kExpectationFailed;
}

// Allowance for the framing of a short body.
constexpr std::size_t kFramingBytes = 1024;
// Limit for one chunk line, or for all trailers.
constexpr std::size_t kMaxLineBytes = std::size_t{8} << 10;
constexpr char kChunkedHead[] = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";

// Returns true if the bytes may be the beginning of an incomplete last chunk. The parser asserts that it sees
// fewer than five bytes of one at most once.
bool IsCutLastChunk(std::string_view bytes) { return bytes.size() < 5 && bytes.starts_with('0'); }

// Returns true if the possibly incomplete first line of a chunk has more than its size. The parser would
// search for the end of an extension even beyond the line, and would count the size again after each wait.
bool HasMoreThanSize(std::string_view bytes) {
  if (bytes.starts_with("\r\n")) {
    bytes.remove_prefix(2);
  }
  const std::string_view line = bytes.substr(0, bytes.find('\r'));
  return !std::all_of(line.begin(), line.end(), absl::ascii_isxdigit);
}

}  // namespace

std::string_view RequestHead::Field(std::string_view name) const {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& field) {
    return absl::EqualsIgnoreCase(field.first, View(name));
  });
  return found == fields.end() ? std::string_view() : found->second;
}

std::variant<RequestHead, int> ParseRequestHead(std::string_view text) {
  if (text.size() > kMaxHeadBytes) {
    return kFieldsTooLarge;
  }
  if (const int code = CheckRawHead(View(text)); code != 0) {
    return code;
  }
  beast::request_parser<beast::empty_body> parser;
  parser.header_limit(kMaxHeadBytes);
  // The limit is enforced by the caller. Without one here, Boost 1.74 rejects every body.
  parser.body_limit(std::numeric_limits<std::uint64_t>::max());
  const auto& message = parser.get();
  RequestHead head;
  boost::system::error_code error;
  try {
    const std::size_t used = parser.put(boost::asio::buffer(text.data(), text.size()), error);
    if (error == beast::error::bad_version) {
      return VersionRefusal(text);
    }
    if (error && error != beast::error::bad_transfer_encoding) {
      return kBadRequest;
    }
    // Versions of Boost differ in the transfer codings that the parser rejects.
    if (const int code = ReadMeaning(message, head); code != 0) {
      return code;
    }
    if (error || !parser.is_header_done() || used != text.size()) {
      return kBadRequest;
    }
  } catch (const std::exception&) {
    return kBadRequest;
  }
  head.keep_alive = message.keep_alive();
  head.method = std::string(View(message.method_string()));
  const absl::string_view target = View(message.target());
  head.path = std::string(target.substr(0, target.find('?')));
  for (const auto& field : message) {
    head.fields.emplace_back(View(field.name_string()), View(field.value()));
  }
  return head;
}

class RequestBody::Chunks {
 public:
  explicit Chunks(std::size_t max_bytes) : raw_left_(2 * max_bytes + kFramingBytes) {
    parser_.eager(true);
    parser_.body_limit(max_bytes);
    parser_.on_chunk_header(on_header_);
    boost::system::error_code error;
    parser_.put(boost::asio::buffer(kChunkedHead, sizeof(kChunkedHead) - 1), error);
  }

  Progress Put(std::string_view bytes) {
    boost::system::error_code error;
    std::size_t used = 0;
    // The parser stops after each chunk.
    while (!error && used < bytes.size() && !parser_.is_done() && !IsCutLastChunk(bytes.substr(used))) {
      const std::size_t more =
          parser_.put(boost::asio::buffer(bytes.data() + used, bytes.size() - used), error);
      const std::string_view taken = bytes.substr(used, more);
      used += more;
      if (is_in_trailers_ && !NoteTrailers(taken)) {
        return {.used = used, .refusal = 400};
      }
      if (more == 0) {
        break;
      }
    }
    if (error == beast::error::body_limit || used > raw_left_) {
      return {.used = used, .refusal = 413};
    }
    raw_left_ -= used;
    const bool is_line_too_long = !parser_.is_done() && bytes.size() - used > kMaxLineBytes;
    // Only if the parser needs more, outside of trailers, are the bytes known to be a first line.
    const bool is_bad_line =
        error == beast::error::need_more && !is_in_trailers_ && HasMoreThanSize(bytes.substr(used));
    if ((error && error != beast::error::need_more) || is_line_too_long || is_bad_line) {
      return {.used = used, .refusal = 400};
    }
    return {.used = used};
  }

  bool is_done() const { return parser_.is_done(); }
  std::string& text() { return parser_.get().body(); }

 private:
  // Counts the lines of trailers. Returns false if there are too many, or one is folded. `taken` may begin
  // with chunks.
  bool NoteTrailers(std::string_view taken) {
    const char* const begin = std::exchange(size_end_, nullptr);
    const std::size_t before = begin == nullptr ? 0 : static_cast<std::size_t>(begin - taken.data());
    for (const char c : taken.substr(std::min(before, taken.size()))) {
      if (is_line_begin_ && (c == ' ' || c == '\t')) {
        return false;
      }
      is_line_begin_ = c == '\n';
      lines_ += is_line_begin_ ? 1 : 0;
    }
    // The lines of the size and the empty line do not count.
    return lines_ - 2 <= kMaxFieldLines;
  }

  using OnHeader = std::function<void(std::uint64_t, boost::beast::string_view, boost::system::error_code&)>;

  beast::request_parser<beast::string_body> parser_;
  // The parser keeps a reference.
  OnHeader on_header_ = [this](std::uint64_t size, boost::beast::string_view extensions,
                               boost::system::error_code& error) {
    is_in_trailers_ = size == 0;
    size_end_ = extensions.data();
    if (!extensions.empty()) {
      error = beast::error::bad_chunk_extension;
    }
  };
  std::size_t raw_left_;
  // Newer versions of Boost read trailers line by line, after the last chunk.
  bool is_in_trailers_ = false;
  // End of the last chunk size within the bytes being put.
  const char* size_end_ = nullptr;
  // Lines since the size of the last chunk.
  int lines_ = 0;
  bool is_line_begin_ = false;
};

RequestBody::RequestBody(const RequestHead& head, std::size_t max_bytes) {
  if (head.is_chunked) {
    chunks_ = std::make_unique<Chunks>(max_bytes);
  } else {
    length_ = static_cast<std::size_t>(head.content_length);
  }
}

RequestBody::~RequestBody() = default;

RequestBody::Progress RequestBody::Put(std::string_view bytes) {
  if (chunks_ == nullptr) {
    const std::size_t used = std::min(bytes.size(), length_ - text_.size());
    // Grows geometrically, but not beyond the known length.
    if (const std::size_t size = text_.size() + used; size > text_.capacity()) {
      text_.reserve(std::min(length_, std::max(size, 2 * text_.capacity())));
    }
    text_.append(bytes.substr(0, used));
    return {.used = used};
  }
  try {
    return chunks_->Put(bytes);
  } catch (const std::exception&) {
    return {.refusal = 400};
  }
}

bool RequestBody::is_done() const {
  return chunks_ == nullptr ? text_.size() == length_ : chunks_->is_done();
}

std::size_t RequestBody::size() const { return chunks_ == nullptr ? text_.size() : chunks_->text().size(); }

std::string RequestBody::Take() { return std::move(chunks_ == nullptr ? text_ : chunks_->text()); }

bool BodyShare::GrowTo(std::size_t bytes) {
  if (ledger_ == nullptr || bytes <= bytes_) {
    return true;
  }
  if (!ledger_->Add(network_, bytes - bytes_)) {
    return false;
  }
  bytes_ = bytes;
  return true;
}

void BodyShare::ShrinkTo(std::size_t bytes) {
  if (bytes < bytes_) {
    ledger_->Remove(network_, bytes_ - bytes);
    bytes_ = bytes;
  }
}

}  // namespace waystar::http
