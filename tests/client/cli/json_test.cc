#include "client/cli/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/errors.h"
#include "tests/client/fake_server.h"

namespace waystar::cli {
namespace {

TEST(JsonTest, NamesEnumsAndPrintsZeros) {
  v1::SearchEvent event;
  event.set_kind(v1::SearchEvent::KIND_EXPANDED);
  event.mutable_cell();
  EXPECT_EQ(ToJson(event, /*pretty=*/false), R"({"kind":"KIND_EXPANDED","cell":{"x":0,"y":0},"g":0,"f":0})"
                                             "\n");
  v1::UpdateObstaclesResponse updated;
  updated.mutable_version()->set_revision(3);
  EXPECT_THAT(ToJson(updated, /*pretty=*/false),
              ::testing::StartsWith(R"({"version":{"epoch":"0","revision":"3"},"changedCells":"0",)"));
}

TEST(JsonTest, IndentsIfPretty) {
  v1::Cell cell;
  cell.set_x(3);
  EXPECT_EQ(ToJson(cell, /*pretty=*/true), "{\n \"x\": 3,\n \"y\": 0\n}\n");
}

TEST(JsonTest, AnErrorCarriesItsDetails) {
  const auto status = client::FromGrpc(
      ::waystar::testing::Refusal(grpc::StatusCode::NOT_FOUND, "no map 'x'", "MAP_NOT_FOUND", "map"));
  EXPECT_EQ(
      ToJson(status, /*pretty=*/false),
      R"({"code":5,"message":"no map 'x'","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo",)"
      R"("reason":"MAP_NOT_FOUND","domain":"waystar","metadata":{"field":"map"}}]})"
      "\n");
}

}  // namespace
}  // namespace waystar::cli
