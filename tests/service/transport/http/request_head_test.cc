// Heads, and what they are refused with: what two programs could read in two ways must not pass.

#include "server/service/transport/http/request_head.h"

#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"

namespace waystar::http {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr int kTaken = 200;

int CodeOf(const std::string& text) {
  const auto result = ParseRequestHead(text);
  return std::holds_alternative<int>(result) ? std::get<int>(result) : kTaken;
}

// A request with these fields, each with its end of line.
std::string With(const std::string& fields) {
  return absl::StrCat("POST /a HTTP/1.1\r\nHost: x\r\n", fields, "\r\n");
}

std::string Junk(int lines) {
  std::string fields;
  for (int i = 0; i < lines; ++i) {
    absl::StrAppend(&fields, "X-", i, ": y\r\n");
  }
  return fields;
}

struct Case {
  std::string text;
  int code;
};

void ExpectCodes(const std::vector<Case>& cases) {
  for (const Case& each : cases) {
    EXPECT_EQ(CodeOf(each.text), each.code) << each.text;
  }
}

TEST(RequestHeadTest, JudgesFirstLines) {
  ExpectCodes({
      {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", kTaken},
      {"GET / HTTP/1.0\r\n\r\n", kTaken},
      {"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", kTaken},
      {"GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n", kTaken},
      {"M-SEARCH / HTTP/1.1\r\nHost: x\r\n\r\n", kTaken},
      {"GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505},
      {"GET / HTTP/0.9\r\nHost: x\r\n\r\n", 505},
      {"GET / HTTP/1.2\r\nHost: x\r\n\r\n", 505},
      {"PRI * HTTP/2.0\r\n\r\n", 505},
      {"GET /\r\nHost: x\r\n\r\n", 400},
      {"GET / http/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {" GET / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET / HTTP/1.1 \r\nHost: x\r\n\r\n", 400},
      {"GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"G(T / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"\r\n\r\n", 400},
      {"hello\r\n\r\n", 400},
      {"", 400},
      {"GET / HTTP/1.1\r\nHost: x\r\n", 400},
      {std::string("GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n", 28), 400},
  });
}

TEST(RequestHeadTest, JudgesLines) {
  ExpectCodes({
      {"GET / HTTP/1.1\nHost: x\n\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\rA: b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\r\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\r\n\r\r", 400},
      {With("A: b\r\n c\r\n"), 400},
      {With("A: b\r\n\tc\r\n"), 400},
      {"GET / HTTP/1.1\r\n Host: x\r\n\r\n", 400},
      {With("A : b\r\n"), 400},
      {With(": b\r\n"), 400},
      {With("A\r\n"), 400},
      {With("A B: c\r\n"), 400},
      {With("A(: c\r\n"), 400},
      {With("A:\tb\r\n"), kTaken},
      {With("A:b\r\n"), kTaken},
      {With("A:\r\n"), kTaken},
      {With("A: b\xc3\xa9\r\n"), kTaken},
      {With("A: b\x01\r\n"), 400},
      {With("A: b\x7f\r\n"), 400},
      {With(std::string("A: b\0c\r\n", 8)), 400},
      {With("") + "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {With(Junk(63)), kTaken},
      {With(Junk(64)), 431},
      {With(absl::StrCat("A: ", std::string(16'000, 'b'), "\r\n")), kTaken},
      {With(absl::StrCat("A: ", std::string(17'000, 'b'), "\r\n")), 431},
  });
}

TEST(RequestHeadTest, JudgesLengths) {
  ExpectCodes({
      {With("Content-Length: 5\r\n"), kTaken},
      {With("Content-Length:  5 \r\n"), kTaken},
      {With("Content-Length: 0\r\n"), kTaken},
      {With("Content-Length: 18446744073709551615\r\n"), kTaken},
      {With("Content-Length: 18446744073709551616\r\n"), 400},
      {With("Content-Length: -1\r\n"), 400},
      {With("Content-Length: +5\r\n"), 400},
      {With("Content-Length: 0x5\r\n"), 400},
      {With("Content-Length: 5, 5\r\n"), 400},
      {With("Content-Length: 5,\r\n"), 400},
      {With("Content-Length: 5 5\r\n"), 400},
      {With("Content-Length:\r\n"), 400},
      {With("Content-Length: five\r\n"), 400},
      {With("Content-Length: 5\r\nContent-Length: 5\r\n"), 400},
      {With("Content-Length: 5\r\ncontent-length: 6\r\n"), 400},
      {With("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), 400},
      {With("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), 400},
      {With("Transfer-Encoding: gzip\r\nContent-Length: 5\r\n"), 400},
      {"POST / HTTP/1.0\r\nContent-Length: 5\r\n\r\n", kTaken},
  });
}

TEST(RequestHeadTest, JudgesCodings) {
  ExpectCodes({
      {With("Transfer-Encoding: chunked\r\n"), kTaken},
      {With("transfer-encoding: Chunked\r\n"), kTaken},
      {With("Transfer-Encoding: gzip\r\n"), 501},
      {With("Transfer-Encoding: xchunked\r\n"), 501},
      {With("Transfer-Encoding: identity\r\n"), 501},
      {With("Transfer-Encoding: gzip, chunked\r\n"), 501},
      {With("Transfer-Encoding: chunked, gzip\r\n"), 501},
      {With("Transfer-Encoding: \"chunked\"\r\n"), 501},
      {With("Transfer-Encoding: chunked, chunked\r\n"), 501},
      {With("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400},
      {With("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n"), 400},
      {With("Transfer-Encoding : chunked\r\n"), 400},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
  });
}

TEST(RequestHeadTest, JudgesHostsAndExpectations) {
  ExpectCodes({
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost:\r\n\r\n", kTaken},
      {"GET / HTTP/1.0\r\nHost: x\r\nHost: x\r\n\r\n", 400},
      {With("Expect: 100-Continue\r\n"), kTaken},
      {With("Expect: tea\r\n"), 417},
      {With("Expect: 100-continue\r\nExpect: 100-continue\r\n"), 417},
  });
}

TEST(RequestHeadTest, SaysWhatWasAsked) {
  const auto result = ParseRequestHead(
      "POST /a%2Fb/../c?d=e?f HTTP/1.1\r\nHost: x:1\r\nContent-Length: 12\r\nExpect: 100-continue\r\n"
      "Authorization: Bearer  t \r\n\r\n");
  ASSERT_TRUE(std::holds_alternative<RequestHead>(result));
  const auto& head = std::get<RequestHead>(result);
  EXPECT_EQ(head.method, "POST");
  EXPECT_EQ(head.path, "/a%2Fb/../c");
  EXPECT_EQ(head.query, "d=e?f");
  EXPECT_THAT(head.fields, ElementsAre(Pair("Host", "x:1"), Pair("Content-Length", "12"),
                                       Pair("Expect", "100-continue"), Pair("Authorization", "Bearer  t")));
  EXPECT_EQ(head.Field("authorization"), "Bearer  t");
  EXPECT_EQ(head.Field("Author"), "");
  EXPECT_FALSE(head.is_version_1_0);
  EXPECT_TRUE(head.expects_continue);
  EXPECT_FALSE(head.is_chunked);
  EXPECT_EQ(head.content_length, 12);
  EXPECT_TRUE(head.has_body());
}

TEST(RequestHeadTest, SaysWhetherTheConnectionIsKept) {
  const auto is_kept = [](const std::string& text) {
    return std::get<RequestHead>(ParseRequestHead(text)).keep_alive;
  };
  EXPECT_TRUE(is_kept(With("")));
  EXPECT_FALSE(is_kept(With("Connection: close\r\n")));
  EXPECT_FALSE(is_kept(With("Connection: foo, Close\r\n")));
  EXPECT_FALSE(is_kept("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(is_kept("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

}  // namespace
}  // namespace waystar::http
