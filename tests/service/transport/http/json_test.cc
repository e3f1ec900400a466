#include "server/service/transport/http/json.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/rpc/status.pb.h"
#include "server/base/error.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::http {
namespace {

const google::protobuf::Descriptor& Query() { return *v1::FindPathRequest::descriptor(); }

std::string FieldBlamedIn(const std::string& json) {
  const absl::StatusOr<std::string> wire = JsonToWire(Query(), json);
  EXPECT_TRUE(absl::IsInvalidArgument(wire.status())) << json;
  return ErrorFieldOf(wire.status());
}

TEST(JsonTest, BecomesBytesAndBack) {
  const auto wire = JsonToWire(Query(), R"({"map": "arena", "start": {"cell": {"x": 3}}, "snap": {}})");
  ASSERT_TRUE(wire.ok()) << wire.status();
  v1::FindPathRequest request;
  ASSERT_TRUE(request.ParseFromString(*wire));
  EXPECT_EQ(request.map(), "arena");
  EXPECT_EQ(request.start().cell().x(), 3);
  EXPECT_TRUE(request.has_snap());
  EXPECT_EQ(*WireToJson(Query(), *wire), R"({"map":"arena","start":{"cell":{"x":3}},"snap":{}})");
}

TEST(JsonTest, NamesTheFieldToBlame) {
  EXPECT_EQ(FieldBlamedIn(R"({"start": {"cell": {"x": "a"}}})"), "start.cell.x");
  EXPECT_EQ(FieldBlamedIn(R"({"start": {"cell": {"z": 1}}})"), "start.cell.z");
  EXPECT_EQ(FieldBlamedIn(R"({"nothing": 1})"), "nothing");
  EXPECT_EQ(FieldBlamedIn(R"({"a @ b: c": 1})"), "a @ b: c");
  EXPECT_EQ(FieldBlamedIn(R"({"map": )"), "");
}

TEST(JsonTest, QuotesLittleOfWhatWasSent) {
  for (const char* const part : {"k", "\xC3\xA9", "\xE2\x82\xAC", "\\u00e9", "\\n", " x"}) {
    std::string key = "a";
    for (int i = 0; i < 1'000; ++i) {
      key += part;
    }
    for (const std::string& json : {absl::StrCat(R"({")", key, R"(": 1})"),
                                    absl::StrCat(R"({"start": {"cell": {"x": ")", key, R"("}}})")}) {
      const absl::Status status = JsonToWire(Query(), json).status();
      EXPECT_TRUE(absl::IsInvalidArgument(status));
      EXPECT_LE(status.message().size(), 250);
      EXPECT_LE(ErrorFieldOf(status).size(), 203);
      // Text that is no UTF-8 would not become JSON.
      google::rpc::Status message;
      message.set_message(std::string(status.message()));
      EXPECT_NE(MessageJson(message), "{}");
    }
  }
}

TEST(JsonTest, RefusesWhatIsNoMessage) {
  for (const char* const json :
       {"", "{", "[]", "3", "null x", R"({"map": {}})", "\xff", R"({"start": [1]})"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(JsonToWire(Query(), json).status())) << json;
  }
}

TEST(JsonTest, IsNotNestedDeeply) {
  for (const int depth : {200, 100'000}) {
    std::string deep;
    for (int i = 0; i < depth; ++i) {
      absl::StrAppend(&deep, R"({"start":)");
    }
    EXPECT_TRUE(absl::IsInvalidArgument(JsonToWire(Query(), deep).status())) << depth;
    const std::string lists =
        absl::StrCat(R"({"nothing":)", std::string(depth, '['), std::string(depth, ']'), "}");
    EXPECT_TRUE(absl::IsInvalidArgument(JsonToWire(Query(), lists).status())) << depth;
  }
}

}  // namespace
}  // namespace waystar::http
