#include "server/service/transport/http/request_head.h"

// Boost.Asio 1.74 needs this header and does not include it.
// The header above must precede all others.
#include <algorithm>
#include <boost/beast/http.hpp>
#include <exception>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace waystar::http {
namespace {

namespace beast = boost::beast::http;

constexpr int kBadRequest = 400;
constexpr int kExpectationFailed = 417;
constexpr int kFieldsTooLarge = 431;
constexpr int kNotImplemented = 501;
constexpr int kVersionNotSupported = 505;

constexpr int kMaxFieldLines = 64;

bool IsControl(char c) { return absl::ascii_iscntrl(c) && c != '\t'; }

// Rejects bytes that HTTP implementations interpret differently. Returns an HTTP code, or 0.
int CheckRawHead(std::string_view text) {
  int lines = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r') {
      ++i;
      if (i == text.size() || text[i] != '\n') {
        return kBadRequest;
      }
      ++lines;
      // A folded line: obsolete continuation of the previous one.
      if (i + 1 < text.size() && (text[i + 1] == ' ' || text[i + 1] == '\t')) {
        return kBadRequest;
      }
    } else if (IsControl(text[i])) {
      return kBadRequest;
    }
  }
  // The first line and the empty one are not fields.
  return lines - 2 > kMaxFieldLines ? kFieldsTooLarge : 0;
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
std::string_view View(const Text& text) {
  return {text.data(), text.size()};
}

absl::string_view Absl(std::string_view text) { return {text.data(), text.size()}; }

// A field that may occur once in a head.
struct Single {
  bool is_present = false;
  bool is_repeated = false;
  std::string_view value;
};

Single SingleField(const beast::fields& fields, beast::field name) {
  const auto [begin, end] = fields.equal_range(name);
  if (begin == end) {
    return {};
  }
  return {.is_present = true, .is_repeated = std::next(begin) != end, .value = View(begin->value())};
}

// Fills in how the body ends. Returns the HTTP code of a rejection, or 0.
int ReadFraming(const beast::fields& fields, RequestHead& head) {
  const Single length = SingleField(fields, beast::field::content_length);
  const Single coding = SingleField(fields, beast::field::transfer_encoding);
  if (length.is_repeated || coding.is_repeated || (length.is_present && coding.is_present) ||
      (coding.is_present && head.is_version_1_0)) {
    return kBadRequest;
  }
  if (coding.is_present) {
    head.is_chunked = true;
    return absl::EqualsIgnoreCase(Absl(coding.value), "chunked") ? 0 : kNotImplemented;
  }
  if (length.is_present) {
    const bool has_digits_only =
        !length.value.empty() && std::all_of(length.value.begin(), length.value.end(), absl::ascii_isdigit);
    if (!has_digits_only || !absl::SimpleAtoi(Absl(length.value), &head.content_length)) {
      return kBadRequest;
    }
  }
  return 0;
}

int ReadMeaning(const beast::fields& fields, RequestHead& head) {
  const Single host = SingleField(fields, beast::field::host);
  if (host.is_repeated || (!host.is_present && !head.is_version_1_0)) {
    return kBadRequest;
  }
  if (const int code = ReadFraming(fields, head); code != 0) {
    return code;
  }
  const Single expect = SingleField(fields, beast::field::expect);
  if (expect.is_present && !head.is_version_1_0) {
    head.expects_continue = !expect.is_repeated && absl::EqualsIgnoreCase(Absl(expect.value), "100-continue");
    return head.expects_continue ? 0 : kExpectationFailed;
  }
  return 0;
}

// Returns the HTTP code for a transfer coding that the parser rejects. Versions of Boost differ in what they
// reject.
int CodingRefusal(const beast::request<beast::empty_body>& message) {
  RequestHead head;
  head.is_version_1_0 = message.version() == 10;
  const int code = ReadMeaning(message, head);
  return code == 0 ? kBadRequest : code;
}

}  // namespace

std::string_view RequestHead::Field(std::string_view name) const {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& field) {
    return absl::EqualsIgnoreCase(field.first, Absl(name));
  });
  return found == fields.end() ? std::string_view() : found->second;
}

std::variant<RequestHead, int> ParseRequestHead(std::string_view text) {
  if (text.size() > kMaxHeadBytes) {
    return kFieldsTooLarge;
  }
  if (const int code = CheckRawHead(text); code != 0) {
    return code;
  }
  beast::request_parser<beast::empty_body> parser;
  parser.header_limit(kMaxHeadBytes);
  // The limit is enforced by the caller. Without one here, Boost 1.74 rejects every body.
  parser.body_limit(std::numeric_limits<std::uint64_t>::max());
  boost::system::error_code error;
  try {
    const std::size_t used = parser.put(boost::asio::buffer(text.data(), text.size()), error);
    if (error == beast::error::bad_version) {
      return VersionRefusal(text);
    }
    if (error == beast::error::bad_transfer_encoding) {
      return CodingRefusal(parser.get());
    }
    if (error || !parser.is_header_done() || used != text.size()) {
      return kBadRequest;
    }
  } catch (const std::exception&) {
    return kBadRequest;
  }
  const auto& message = parser.get();
  RequestHead head;
  head.is_version_1_0 = message.version() == 10;
  head.keep_alive = message.keep_alive();
  head.method = View(message.method_string());
  const std::string_view target = View(message.target());
  const std::size_t mark = target.find('?');
  head.path = target.substr(0, mark);
  head.query = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  for (const auto& field : message) {
    head.fields.emplace_back(View(field.name_string()), View(field.value()));
  }
  if (const int code = ReadMeaning(message, head); code != 0) {
    return code;
  }
  return head;
}

}  // namespace waystar::http
