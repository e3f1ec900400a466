// Heads, and what they are refused with: what two programs could read in two ways must not pass.

#include "server/service/transport/http/request.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/testing/random.h"

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

constexpr std::size_t kMaxBytes = 100;

RequestHead Chunked() {
  RequestHead head;
  head.is_chunked = true;
  return head;
}

struct Result {
  int refusal = 0;
  bool is_done = false;
  // What was read.
  std::string text;
  // What follows it.
  std::string rest;
};

// Puts the bytes in pieces of that size, as a connection does: what is not used comes again, with more.
Result Read(RequestBody body, std::string_view bytes, std::size_t piece) {
  Result result;
  while (!bytes.empty() && result.refusal == 0 && !body.is_done()) {
    result.rest += bytes.substr(0, piece);
    bytes.remove_prefix(std::min(piece, bytes.size()));
    const RequestBody::Progress progress = body.Put(result.rest);
    result.refusal = progress.refusal;
    result.rest.erase(0, progress.used);
  }
  result.rest += bytes;
  result.is_done = result.refusal == 0 && body.is_done();
  result.text = result.is_done ? body.Take() : "";
  return result;
}

int RefusalOf(std::string_view bytes) { return Read(RequestBody(Chunked(), kMaxBytes), bytes, 4096).refusal; }

TEST(RequestBodyTest, ReadsAKnownLengthInPiecesOfEverySize) {
  RequestHead head;
  head.content_length = 5;
  for (std::size_t piece = 1; piece < 12; ++piece) {
    const Result result = Read(RequestBody(head, kMaxBytes), "helloGET /", piece);
    EXPECT_TRUE(result.is_done);
    EXPECT_EQ(result.text, "hello");
    EXPECT_EQ(result.rest, "GET /");
  }
}

TEST(RequestBodyTest, IsDoneAtOnceWithoutABody) {
  RequestBody body(RequestHead(), kMaxBytes);
  EXPECT_TRUE(body.is_done());
  EXPECT_EQ(body.Put("GET /").used, 0);
  EXPECT_EQ(body.Take(), "");
}

TEST(RequestBodyTest, ReadsChunksInPiecesOfEverySize) {
  constexpr std::string_view kChunks = "3\r\nhel\r\n1\r\nl\r\n00A\r\no, my dear\r\n0\r\nTrailer: x\r\n\r\n";
  for (std::size_t piece = 1; piece < kChunks.size() + 7; ++piece) {
    const Result result = Read(RequestBody(Chunked(), kMaxBytes), std::string(kChunks) + "GET /", piece);
    EXPECT_TRUE(result.is_done) << piece;
    EXPECT_EQ(result.text, "hello, my dear");
    EXPECT_EQ(result.rest, "GET /");
  }
}

TEST(RequestBodyTest, ReadsAnEmptyBodyInChunks) {
  const Result result = Read(RequestBody(Chunked(), 0), "0\r\n\r\n", 1);
  EXPECT_TRUE(result.is_done);
  EXPECT_EQ(result.text, "");
}

TEST(RequestBodyTest, RefusesWhatIsNoChunk) {
  for (const char* const bytes :
       {"x\r\n", "-1\r\n", "0x3\r\nabc\r\n\r\n", "3 \r\nabc\r\n", "3;a=b\r\nabc\r\n0\r\n\r\n",
        "3;\r\nabc\r\n", "3\r\nabcd\r\n0\r\n\r\n", "3\nabc\n0\n\n\r\n\r\n", "3\r\nabc\n0\r\n\r\n",
        "3\r\nabc0\r\n\r\n", "ffffffffffffffffff\r\n", "0;a\r\n\r\n", "0\r\nA b\r\n\r\n",
        "\r\n3\r\nabc\r\n0\r\n\r\n"}) {
    EXPECT_EQ(RefusalOf(bytes), 400) << bytes;
  }
}

TEST(RequestBodyTest, RefusesAnExtensionThatHasNoEnd) {
  for (const std::string_view bytes : {"7;a", "7;a=\"(  a\r\nabc", "3\r\nabc\r\n7;", "0;a\r\n", "7 "}) {
    EXPECT_EQ(RefusalOf(bytes), 400) << bytes;
    EXPECT_EQ(Read(RequestBody(Chunked(), kMaxBytes), bytes, 1).refusal, 400) << bytes;
  }
}

TEST(RequestBodyTest, BoundsTrailers) {
  // What lies in a chunk is no trailer.
  const std::string chunk = "7\r\n\r\n a\r\n\t\r\n";
  for (const int count : {0, 1, 64, 65, 1'000}) {
    std::string bytes = absl::StrCat(chunk, "0\r\n");
    for (int i = 0; i < count; ++i) {
      absl::StrAppend(&bytes, "a:\r\n");
    }
    bytes += "\r\n";
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
      const Result result = Read(RequestBody(Chunked(), 10'000), bytes, piece);
      EXPECT_EQ(result.refusal, count > 64 ? 400 : 0) << count << " by " << piece;
      EXPECT_EQ(result.is_done, count <= 64) << count << " by " << piece;
    }
  }
  for (const char* const trailers : {"A: b\r\n c\r\n", "A: b\r\n\tc\r\n", " A: b\r\n", "A: b\r\n \r\n"}) {
    const std::string bytes = absl::StrCat(chunk, "0\r\n", trailers, "\r\n");
    for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
      EXPECT_EQ(Read(RequestBody(Chunked(), kMaxBytes), bytes, piece).refusal, 400) << trailers;
    }
  }
}

TEST(RequestBodyTest, RefusesLongBodies) {
  EXPECT_EQ(RefusalOf(absl::StrCat("64\r\n", std::string(100, 'x'), "\r\n0\r\n\r\n")), 0);
  EXPECT_EQ(RefusalOf("65\r\n"), 413);
  EXPECT_EQ(RefusalOf("fffffffffffffff\r\n"), 413);
  EXPECT_EQ(RefusalOf(absl::StrCat("64\r\n", std::string(100, 'x'), "\r\n1\r\nx")), 413);
}

TEST(RequestBodyTest, RefusesMuchAroundABody) {
  std::string chunks;
  for (int i = 0; i < 100; ++i) {
    chunks += "000000000000001\r\nx\r\n";
  }
  EXPECT_EQ(RefusalOf(chunks), 413);
  EXPECT_EQ(RefusalOf(absl::StrCat("0\r\nA: ", std::string(1'500, 'x'), "\r\n\r\n")), 413);
  // Without an end of line, none of it is used.
  EXPECT_NE(RefusalOf(std::string(20'000, '0')), 0);
  EXPECT_NE(RefusalOf(absl::StrCat("0\r\nA: ", std::string(200'000, 'x'))), 0);
}

// Whatever comes, in whatever pieces, is a body or is refused; it is the same in all pieces.
TEST(RequestBodyTest, AnyBytesAreABodyOrRefused) {
  constexpr std::string_view kParts[] = {"0",  "1",    "3", "a",    "ff",  "\r",
                                         "\n", "\r\n", ";", "A: b", "xyz", " "};
  Random random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes;
    for (int parts = random.Between(1, 14); parts > 0; --parts) {
      bytes += kParts[random.Between(0, std::size(kParts) - 1)];
    }
    // Enough for a refusal not to wait for more.
    bytes += "\r\nzzzzz";
    const Result whole = Read(RequestBody(Chunked(), kMaxBytes), bytes, bytes.size());
    for (const std::size_t piece : {1, 2, 3}) {
      const Result cut = Read(RequestBody(Chunked(), kMaxBytes), bytes, piece);
      EXPECT_EQ(cut.is_done, whole.is_done) << bytes;
      EXPECT_EQ(cut.refusal != 0, whole.refusal != 0) << bytes;
    }
  }
}

}  // namespace
}  // namespace waystar::http
