#include "server/service/transport/http/request_body.h"

// Boost.Asio 1.74 needs this header and does not include it.
// The header above must precede all others.
#include <algorithm>
#include <boost/beast/http.hpp>
#include <exception>
#include <functional>

#include "absl/strings/ascii.h"

namespace waystar::http {
namespace {

namespace beast = boost::beast::http;

// Maximum number of lines of trailers, the same as in a head.
constexpr int kMaxTrailerLines = 64;
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
    return lines_ - 2 <= kMaxTrailerLines;
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

RequestBody::RequestBody(RequestBody&&) noexcept = default;
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

bool BodyLedger::Add(const net::Network& network, std::size_t bytes) {
  MutexLock lock(mutex_);
  return held_.Take(network, bytes);
}

void BodyLedger::Remove(const net::Network& network, std::size_t bytes) {
  MutexLock lock(mutex_);
  held_.GiveBack(network, bytes);
}

std::size_t BodyLedger::bytes() const {
  MutexLock lock(mutex_);
  return held_.total();
}

BodyShare& BodyShare::operator=(BodyShare&& other) noexcept {
  GiveBack();
  ledger_ = std::move(other.ledger_);
  network_ = other.network_;
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

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
