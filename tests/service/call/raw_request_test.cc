// Requests that no generated stub would send.

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "grpcpp/support/byte_buffer.h"
#include "tests/service/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::waystar::testing::CallRaw;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::TestServer;

class RawRequestTest : public ::testing::Test {
 protected:
  absl::StatusOr<grpc::ByteBuffer> Call(const char* method, const std::string& bytes) {
    return CallRaw(*channel_, method, bytes);
  }

  TestServer server_;
  std::shared_ptr<grpc::Channel> channel_ = server_.NewChannel();
};

TEST_F(RawRequestTest, InvalidUtf8NamesTheField) {
  // Field 1 of each: the map's id.
  const std::string bad_id = "\x0a\x02\xc3\x28";
  for (const char* method : {"/waystar.v1.PathService/FindPath", "/waystar.v1.MapService/CreateMap",
                             "/waystar.v1.MapService/GetMap", "/waystar.v1.MapService/UpdateObstacles"}) {
    EXPECT_THAT(Call(method, bad_id), IsRefused(kInvalid, "BAD_VALUE", "map")) << method;
  }
  // query.map: fields 1 and 1.
  EXPECT_THAT(Call("/waystar.v1.PathService/TraceSearch", "\x0a\x04\x0a\x02\xc3\x28"),
              IsRefused(kInvalid, "BAD_VALUE", "query.map"));
  // rows[0] is fine, rows[1] is not.
  EXPECT_THAT(Call("/waystar.v1.MapService/CreateMap", std::string("\x0a\x01m\x12\x01.\x12\x01\xff", 9)),
              IsRefused(kInvalid, "BAD_VALUE", "rows[1]"));
  // grid.terrains[0].symbol: fields 6, 3, 1.
  EXPECT_THAT(Call("/waystar.v1.MapService/CreateMap", "\x32\x05\x1a\x03\x0a\x01\xff"),
              IsRefused(kInvalid, "BAD_VALUE", "grid.terrains[0].symbol"));
}

TEST_F(RawRequestTest, BytesThatAreNoMessageAreSaidToBeNone) {
  const auto answer = Call("/waystar.v1.PathService/FindPath", "\x0a\xff\xff\xff\xff");
  EXPECT_THAT(answer, IsRefused(kInvalid, "BAD_VALUE", ""));
  EXPECT_THAT(std::string(answer.status().message()), ::testing::HasSubstr("waystar.v1.FindPathRequest"));
}

TEST_F(RawRequestTest, UnknownFieldsAreIgnored) {
  server_.Create("m", {".."});
  // map "m", and field 1000 with some bytes.
  EXPECT_TRUE(Call("/waystar.v1.MapService/GetMap", "\x0a\x01m\xc2\x3e\x03xyz").ok());
}

TEST_F(RawRequestTest, UnknownMethodIsUnimplemented) {
  EXPECT_EQ(Call("/waystar.v1.PathService/FlyThere", "").status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace waystar
