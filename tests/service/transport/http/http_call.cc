#include "tests/service/transport/http/http_call.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace waystar {

HttpCall::HttpCall(int port, HttpRequest request) : client_(port) {
  EXPECT_TRUE(client_.is_connected());
  request.headers.emplace("Host", absl::StrCat("127.0.0.1:", port));
  request.headers.emplace("Connection", "close");
  if (request.method == "POST") {
    request.headers.emplace("Content-Length", absl::StrCat(request.body.size()));
  }
  std::string text = absl::StrCat(request.method, " ", request.path, " HTTP/1.1\r\n");
  for (const auto& [name, value] : request.headers) {
    absl::StrAppend(&text, name, ": ", value, "\r\n");
  }
  absl::StrAppend(&text, "\r\n", request.body);
  // What refuses a long body need not read it.
  client_.Send(text);

  const std::string status = TakeThrough("\r\n");
  EXPECT_TRUE(absl::SimpleAtoi(status.substr(std::min<size_t>(9, status.size()), 3), &code_)) << status;
  for (std::string line = TakeThrough("\r\n"); !line.empty(); line = TakeThrough("\r\n")) {
    const size_t colon = std::min(line.find(':'), line.size() - 1);
    headers_[absl::AsciiStrToLower(line.substr(0, colon))] =
        std::string(absl::StripAsciiWhitespace(line.substr(colon + 1)));
  }
}

std::string HttpCall::Header(const std::string& name) const {
  const auto header = headers_.find(name);
  return header == headers_.end() ? "" : header->second;
}

std::optional<std::string> HttpCall::NextLine() {
  while (true) {
    const size_t end = body_.find('\n');
    if (end == std::string::npos) {
      if (!ReadBody()) {
        return std::nullopt;
      }
      continue;
    }
    std::string line = body_.substr(0, end);
    body_.erase(0, end + 1);
    if (!line.empty()) {
      return line;
    }
  }
}

std::string HttpCall::Body() {
  while (ReadBody()) {
  }
  return std::exchange(body_, {});
}

bool HttpCall::IsClosed() {
  Body();
  return !Receive();
}

bool HttpCall::Receive() {
  const std::string bytes = client_.Receive(16 << 10);
  raw_ += bytes;
  return !bytes.empty();
}

std::string HttpCall::TakeThrough(const std::string& end) {
  size_t position = 0;
  while ((position = raw_.find(end)) == std::string::npos) {
    if (!Receive()) {
      return "";
    }
  }
  std::string text = raw_.substr(0, position);
  raw_.erase(0, position + end.size());
  return text;
}

bool HttpCall::ReadBody() {
  if (Header("transfer-encoding") != "chunked") {
    const bool is_more = Receive();
    body_ += std::exchange(raw_, {});
    return is_more;
  }
  const size_t length = std::strtoul(TakeThrough("\r\n").c_str(), nullptr, 16);
  if (length == 0) {
    return false;
  }
  while (raw_.size() < length + 2) {
    if (!Receive()) {
      return false;
    }
  }
  body_ += raw_.substr(0, length);
  raw_.erase(0, length + 2);
  return true;
}

}  // namespace waystar
