#include "server/service/transport/http/request_body.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/testing/random.h"

namespace waystar::http {
namespace {

constexpr std::size_t kMaxBytes = 100;

RequestHead Chunked() {
  RequestHead head;
  head.is_chunked = true;
  return head;
}

struct Result {
  int refusal = 0;
  bool is_done = false;
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
  return result;
}

std::string TextOf(RequestBody body, std::string_view bytes, std::size_t piece) {
  std::string waiting;
  while (!bytes.empty()) {
    waiting += bytes.substr(0, piece);
    bytes.remove_prefix(std::min(piece, bytes.size()));
    const RequestBody::Progress progress = body.Put(waiting);
    EXPECT_EQ(progress.refusal, 0);
    waiting.erase(0, progress.used);
  }
  EXPECT_TRUE(body.is_done());
  return body.Take();
}

int RefusalOf(std::string_view bytes) { return Read(RequestBody(Chunked(), kMaxBytes), bytes, 4096).refusal; }

TEST(RequestBodyTest, ReadsAKnownLengthInPiecesOfEverySize) {
  RequestHead head;
  head.content_length = 5;
  for (std::size_t piece = 1; piece < 12; ++piece) {
    const Result result = Read(RequestBody(head, kMaxBytes), "helloGET /", piece);
    EXPECT_TRUE(result.is_done);
    EXPECT_EQ(result.rest, "GET /");
    EXPECT_EQ(TextOf(RequestBody(head, kMaxBytes), "hello", piece), "hello");
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
    EXPECT_EQ(result.rest, "GET /");
    EXPECT_EQ(TextOf(RequestBody(Chunked(), kMaxBytes), kChunks, piece), "hello, my dear");
  }
}

TEST(RequestBodyTest, ReadsAnEmptyBodyInChunks) {
  EXPECT_EQ(TextOf(RequestBody(Chunked(), 0), "0\r\n\r\n", 1), "");
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
  testing::Random random(7);
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
