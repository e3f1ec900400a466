#include "client/load/scenario_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace waystar::load {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// There is one file, of two scenarios, and one that is none.
absl::StatusOr<std::string> ReadFile(const std::string& name) {
  if (name == "arena.map.scen") {
    return std::string(
        "version 1\n0\tarena.map\t49\t49\t1\t11\t1\t12\t1.0\n0\tarena.map\t49\t49\t1\t13\t4\t12\t3.41\n");
  }
  if (name == "bad.scen") {
    return std::string(
        "version 1\n0\tarena.map\t49\t49\t1\t11\t1\t12\t1.0\n0\tarena.map\t49\t49\t1\tx\t1\t12\t1.0\n");
  }
  return absl::NotFoundError("No such file");
}

std::string ErrorOf(const std::string& text) {
  return std::string(ParseScenario(text, &ReadFile).status().message());
}

TEST(ScenarioFileTest, ReadsEveryKind) {
  const auto parts = ParseScenario(
      "# A mix.\n"
      "70 arena random 1000\n"
      "\n"
      "  20.5 arena pair 1,1 60,40 {\"path_form\": \"PATH_FORM_CORNERS\"}\r\n"
      "9 arena scen arena.map.scen {\"agent\": {\"profileName\": \"tank\"}}\n"
      "1 islands query {\"start\": {\"node\": \"harbour\"}, \"goals\": [{\"node\": \"#1\"}]}",
      &ReadFile);
  ASSERT_TRUE(parts.ok()) << parts.status();
  ASSERT_EQ(parts->size(), 4);
  EXPECT_EQ((*parts)[0].weight, 70);
  EXPECT_EQ((*parts)[0].random_pairs, 1000);
  EXPECT_EQ((*parts)[0].common.map(), "arena");
  EXPECT_EQ((*parts)[1].weight, 20.5);
  ASSERT_EQ((*parts)[1].queries.size(), 1);
  EXPECT_EQ((*parts)[1].queries[0].goals(0).cell().x(), 60);
  EXPECT_EQ((*parts)[1].queries[0].path_form(), v1::PATH_FORM_CORNERS);
  ASSERT_EQ((*parts)[2].queries.size(), 2);
  EXPECT_EQ((*parts)[2].queries[1].start().cell().y(), 13);
  EXPECT_EQ((*parts)[2].queries[1].goals(0).cell().x(), 4);
  EXPECT_EQ((*parts)[2].queries[1].agent().profile_name(), "tank");
  EXPECT_EQ((*parts)[3].queries[0].goals(0).node(), "#1");
  EXPECT_EQ((*parts)[3].queries[0].map(), "islands");
}

TEST(ScenarioFileTest, APairHasNoOtherGoal) {
  const auto parts = ParseScenario("1 arena pair 1,1 2,2 {\"goals\": [{\"cell\": {\"x\": 9}}]}", &ReadFile);
  ASSERT_TRUE(parts.ok()) << parts.status();
  ASSERT_EQ((*parts)[0].queries[0].goals_size(), 1);
  EXPECT_EQ((*parts)[0].queries[0].goals(0).cell().x(), 2);
}

TEST(ScenarioFileTest, NamesTheLineOfWhatIsWrong) {
  EXPECT_THAT(ErrorOf("1 arena random 5\n\n0 arena random 5"),
              StartsWith("line 3: a line begins with a weight"));
  EXPECT_THAT(ErrorOf("arena random 5"), StartsWith("line 1: a line begins with a weight"));
  EXPECT_THAT(ErrorOf("nan arena random 5"), StartsWith("line 1: a line begins with a weight"));
  EXPECT_THAT(ErrorOf("1 arena"), StartsWith("line 1: after weight and map comes"));
  EXPECT_THAT(ErrorOf("1 arena walk"), StartsWith("line 1: after weight and map comes"));
  EXPECT_THAT(ErrorOf("1 arena random"), StartsWith("line 1: random is followed by a number"));
  EXPECT_THAT(ErrorOf("1 arena random -3"), StartsWith("line 1: random is followed by a number"));
  EXPECT_THAT(ErrorOf("1 arena pair 1,1"), StartsWith("line 1: a pair is two cells"));
  EXPECT_THAT(ErrorOf("1 arena pair 1,1 2;2"), StartsWith("line 1: '2;2' is not a cell"));
  EXPECT_THAT(ErrorOf("1 arena query"), StartsWith("line 1: query is followed by the JSON"));
  EXPECT_THAT(ErrorOf("1 arena query {\"strat\": 1}"),
              StartsWith("line 1: this is not JSON of a FindPathRequest"));
  EXPECT_THAT(ErrorOf("1 arena pair 1,1 2,2 {"), StartsWith("line 1: this is not JSON of a FindPathRequest"));
  EXPECT_THAT(ErrorOf("1 arena query {\"map\": \"other\"}"), HasSubstr("the map stands at the beginning"));
}

TEST(ScenarioFileTest, NamesTheLineOfAFileOfScenarios) {
  EXPECT_THAT(ErrorOf("1 arena scen bad.scen"),
              StartsWith("line 1: bad.scen line 3: this is not a scenario"));
  EXPECT_THAT(ErrorOf("1 arena scen none.scen"), StartsWith("line 1: cannot read none.scen: No such file"));
}

TEST(ScenarioFileTest, AnEmptyFileIsWrong) {
  EXPECT_EQ(ErrorOf(""), "there is no query in it");
  EXPECT_EQ(ErrorOf("# nothing\n"), "there is no query in it");
}

}  // namespace
}  // namespace waystar::load
