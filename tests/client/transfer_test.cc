#include <gtest/gtest.h>

#include <sstream>
#include <streambuf>
#include <string>
#include <vector>

#include "client/client.h"
#include "tests/client/fake_server.h"
#include "tests/testing/patience.h"

namespace waystar::client {
namespace {

using ::waystar::testing::FakeServer;
using ::waystar::testing::kPatience;
using ::waystar::testing::Refusal;

constexpr size_t kChunkBytes = 65536;

class TransferTest : public ::testing::Test {
 protected:
  TransferTest() {
    server_.import_map = [this](auto&, const std::vector<v1::ImportMapRequest>& parts, auto&) {
      parts_ = parts;
      return grpc::Status::OK;
    };
  }

  Client MakeClient() {
    Options options;
    options.target = server_.target();
    options.transfer_timeout = kPatience;
    return Client(options);
  }

  void ExpectParts(const std::string& bytes, size_t chunks) {
    ASSERT_EQ(parts_.size(), chunks + 1);
    EXPECT_EQ(parts_[0].header().map(), "arena");
    EXPECT_TRUE(parts_[0].header().has_size());
    EXPECT_EQ(parts_[0].header().size(), static_cast<int64_t>(bytes.size()));
    std::string received;
    for (size_t i = 1; i < parts_.size(); ++i) {
      EXPECT_LE(parts_[i].chunk().size(), kChunkBytes);
      received += parts_[i].chunk();
    }
    EXPECT_EQ(received, bytes);
  }

  static v1::ImportMapHeader Header() {
    v1::ImportMapHeader header;
    header.set_map("arena");
    return header;
  }

  // Bytes by which one chunk can be told from another.
  static std::string Bytes(size_t size) {
    std::string bytes(size, '\0');
    for (size_t i = 0; i < size; ++i) {
      bytes[i] = static_cast<char>(i / kChunkBytes * 7 + i);
    }
    return bytes;
  }

  std::vector<v1::ImportMapRequest> parts_;
  FakeServer server_;
};

TEST_F(TransferTest, ImportsInChunks) {
  const std::string bytes = Bytes(2 * kChunkBytes + 1);
  ASSERT_TRUE(MakeClient().ImportMap(Header(), bytes).ok());
  ExpectParts(bytes, 3);
}

TEST_F(TransferTest, ImportsWholeChunksWithoutAnEmptyOne) {
  const std::string bytes = Bytes(2 * kChunkBytes);
  ASSERT_TRUE(MakeClient().ImportMap(Header(), bytes).ok());
  ExpectParts(bytes, 2);
}

TEST_F(TransferTest, SaysThatNothingIsZeroBytes) {
  ASSERT_TRUE(MakeClient().ImportMap(Header(), "").ok());
  ExpectParts("", 0);
}

TEST_F(TransferTest, ImportsAFile) {
  const std::string bytes = Bytes(kChunkBytes + 5);
  std::istringstream file(bytes);
  ASSERT_TRUE(MakeClient().ImportMap(Header(), file).ok());
  ExpectParts(bytes, 2);
}

TEST_F(TransferTest, ImportsWhatIsLeftOfAFile) {
  std::istringstream file("skip..#.");
  file.seekg(4);
  ASSERT_TRUE(MakeClient().ImportMap(Header(), file).ok());
  ExpectParts("..#.", 1);
}

TEST_F(TransferTest, AFileThatCannotSeekIsNotSent) {
  struct Pipe : std::streambuf {
  } pipe;
  std::istream file(&pipe);
  EXPECT_TRUE(absl::IsDataLoss(MakeClient().ImportMap(Header(), file).status()));
  EXPECT_TRUE(parts_.empty());
}

TEST_F(TransferTest, AnImportTellsWhyItWasRefused) {
  server_.import_map = [](auto&, const auto&, auto&) {
    return Refusal(grpc::StatusCode::ALREADY_EXISTS, "there is a map 'arena'", "MAP_EXISTS", "header.map");
  };
  const auto response = MakeClient().ImportMap(Header(), Bytes(5 * kChunkBytes));
  EXPECT_TRUE(absl::IsAlreadyExists(response.status()));
  EXPECT_EQ(ReasonOf(response.status()), "MAP_EXISTS");
}

TEST_F(TransferTest, ExportsHeaderAndBytes) {
  v1::MapInfo info;
  info.mutable_version()->set_revision(3);
  server_.ServeMap(info, {"..", "#."});
  const auto map = MakeClient().ExportMap({});
  ASSERT_TRUE(map.ok()) << map.status();
  EXPECT_EQ(map->header.info().version().revision(), 3);
  EXPECT_EQ(map->bytes, "connectivity 8\nmap\n..\n#.\n");
}

TEST_F(TransferTest, ATruncatedExportIsAnError) {
  server_.export_map = [](auto&, const auto&, std::vector<v1::ExportMapResponse>& parts) {
    parts.resize(2);
    parts[0].mutable_header()->set_size(10);
    parts[1].set_chunk("...");
    return grpc::Status::OK;
  };
  EXPECT_TRUE(absl::IsDataLoss(MakeClient().ExportMap({}).status()));
}

TEST_F(TransferTest, AnExportThatFailsHasItsReason) {
  server_.export_map = [](auto&, const auto&, auto&) {
    return Refusal(grpc::StatusCode::NOT_FOUND, "no map 'arena'", "MAP_NOT_FOUND", "map");
  };
  EXPECT_EQ(ReasonOf(MakeClient().ExportMap({}).status()), "MAP_NOT_FOUND");
}

}  // namespace
}  // namespace waystar::client
