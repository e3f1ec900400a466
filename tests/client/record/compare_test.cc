#include "client/record/compare.h"

#include <string>

#include "client/record/methods.h"
#include "gmock/gmock.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::record {
namespace {

using ::testing::HasSubstr;

CallResult Answered(double cost, std::uint64_t revision, std::int64_t relative_revision, int points = 2) {
  v1::FindPathResponse answer;
  answer.set_outcome(v1::OUTCOME_FOUND);
  answer.set_cost(cost);
  answer.mutable_version()->set_revision(revision);
  answer.mutable_statistics()->mutable_search_time()->set_nanos(static_cast<std::int32_t>(revision) * 1'000);
  for (int i = 0; i < points; ++i) {
    answer.add_points()->set_x(i);
  }
  return {.response = answer.SerializeAsString(), .relative_revision = relative_revision};
}

CallResult Refused(int code) {
  CallResult result;
  result.status.set_code(code);
  return result;
}

TEST(CompareTest, NumbersOfRevisionsAndTimesDoNotMatter) {
  EXPECT_EQ(Difference(kFindPath, Answered(14, 3, 1), Answered(14, 8, 1)), "");
  EXPECT_EQ(Difference(kFindPath, Answered(14.0000001, 3, 1), Answered(14, 3, 1)), "");
}

TEST(CompareTest, TellsWhatIsDifferent) {
  EXPECT_EQ(Difference(kFindPath, Answered(14, 3, 1), Answered(16, 3, 1)), "cost: 14 -> 16");
  EXPECT_THAT(Difference(kFindPath, Answered(14, 3, 1), Answered(14, 3, 1, 3)), HasSubstr("points[2]"));
  EXPECT_EQ(Difference(kFindPath, Answered(14, 3, 1), Answered(14, 3, 2)), "revision: +1 -> +2");
  EXPECT_EQ(Difference(kFindPath, Answered(14, 3, 1), Refused(5)), "OK -> NOT_FOUND");
  EXPECT_EQ(Difference(kFindPath, Refused(5), Refused(5)), "");
}

}  // namespace
}  // namespace waystar::record
