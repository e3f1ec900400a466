#include "server/core/store/map_id.h"

#include <string>

#include "gmock/gmock.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::HasSubstr;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;

TEST(MapIdTest, AcceptsWhatTheContractAllows) {
  for (const std::string& id :
       {std::string("a"), std::string("7"), std::string("arena-2_b.v1"), std::string(63, 'x')}) {
    EXPECT_THAT(CheckMapId(id), IsOk()) << id;
  }
}

TEST(MapIdTest, RejectsTheRest) {
  for (const std::string& id :
       {std::string(), std::string(64, 'x'), std::string("../x"), std::string("Arena"), std::string("a b"),
        std::string("_a"), std::string(".a"), std::string("-a"), std::string("a/b"), std::string("a\0b", 3),
        std::string("\xc3\x28"), std::string("ärena"), std::string(1000000, 'x')}) {
    EXPECT_THAT(CheckMapId(id), IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadMapId, "map"));
  }
}

TEST(MapIdTest, MessageShowsTheIdSafely) {
  EXPECT_THAT(std::string(CheckMapId("a\nb\xff").message()), HasSubstr("\"a\\nb\\xff\""));
  EXPECT_LT(CheckMapId(std::string(1000000, 'x')).message().size(), 300U);
}

}  // namespace
}  // namespace waystar::core
