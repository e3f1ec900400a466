#include "client/cli/json.h"

#include <gtest/gtest.h>

#include "client/errors.h"
#include "tests/client/fake_server.h"

namespace waystar::cli {
namespace {

TEST(JsonTest, NamesEnumsAndPrintsZeros) {
  v1::FindPathResponse answer;
  answer.set_outcome(v1::OUTCOME_UNREACHABLE);
  answer.set_reason(v1::REASON_NO_ROUTE);
  answer.set_revision(3);
  EXPECT_EQ(ToJson(answer, /*pretty=*/false),
            R"({"outcome":"OUTCOME_UNREACHABLE","reason":"REASON_NO_ROUTE","cost":0,"points":[],)"
            R"("directions":[],"revision":"3","positions":[],"nodes":[]})"
            "\n");
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
