#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cli/completion/command_tree.h"
#include "tests/client/cli/command_test.h"

namespace waystar::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CommandTreeTest, DescribesAnApp) {
  CLI::App app("An app.", "app");
  bool loud = false;
  app.add_flag("--loud", loud, "Be loud");
  CLI::App& draw = *app.add_subcommand("draw", "Draws");
  std::string color;
  draw.add_option("-c,--color", color, "Which colour")->type_name("red|blue");
  std::string map;
  draw.add_option("MAP", map)->type_name("MAP");
  std::vector<std::string> files;
  draw.add_option("FILE", files)->type_name("FILE");

  const std::vector<CommandNode> commands = WalkCommands(app);
  ASSERT_EQ(commands.size(), 2);
  EXPECT_EQ(commands[0].path, "app");
  ASSERT_EQ(commands[0].subcommands.size(), 1);
  EXPECT_EQ(commands[0].subcommands[0].name, "draw");

  EXPECT_EQ(commands[1].path, "app draw");
  ASSERT_EQ(commands[1].options.size(), 3);
  EXPECT_THAT(commands[1].options[0].names, ElementsAre("--loud"));
  EXPECT_FALSE(commands[1].options[0].takes_value);
  EXPECT_THAT(commands[1].options[2].names, ElementsAre("-c", "--color"));
  EXPECT_TRUE(commands[1].options[2].takes_value);
  EXPECT_THAT(commands[1].options[2].values.words, ElementsAre("red", "blue"));
  ASSERT_EQ(commands[1].positionals.size(), 2);
  EXPECT_EQ(commands[1].positionals[0].values.kind, Values::Kind::kMaps);
  EXPECT_FALSE(commands[1].positionals[0].repeats);
  EXPECT_EQ(commands[1].positionals[1].values.kind, Values::Kind::kFiles);
  EXPECT_TRUE(commands[1].positionals[1].repeats);
}

class CompletionTest : public ::waystar::testing::CommandTest {};

TEST_F(CompletionTest, Bash) {
  EXPECT_EQ(RunBare({"completion", "bash"}), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr("complete -F _waystar waystar\n"));
  EXPECT_THAT(
      out_,
      HasSubstr("'waystar 0') _waystar_words 'map find paths watch-path validate trace render animate reach "
                "reachable flow matrix ray sample probe block unblock terrain obstacle portal "
                "watch health info top cluster log-level token bench backup restore completion "
                "man help' ;;\n"));
  EXPECT_THAT(out_, HasSubstr("'waystar help '*) _waystar_words 'map find paths"));
  EXPECT_THAT(out_, HasSubstr("'waystar find --algorithm') _waystar_words "
                              "'auto astar dijkstra jump-point lazy-theta hierarchy polyanya'; return ;;\n"));
  EXPECT_THAT(out_, HasSubstr("'waystar trace 0') _waystar_maps ;;\n"));
  EXPECT_THAT(out_, HasSubstr("'waystar find --server') return ;;\n"));
  EXPECT_THAT(out_, HasSubstr("'waystar find 0') _waystar_maps ;;\n"));
  EXPECT_THAT(out_, HasSubstr("'waystar map delete '*) _waystar_maps ;;\n"));
  EXPECT_THAT(
      out_, HasSubstr("'waystar map export -o'|'waystar map export --output') _waystar_files; return ;;\n"));
  EXPECT_THAT(out_, HasSubstr("map list --names"));
}

TEST_F(CompletionTest, Zsh) {
  EXPECT_EQ(RunBare({"completion", "zsh"}), ExitCode::kOk);
  EXPECT_THAT(out_, ::testing::StartsWith("#compdef waystar\n"));
  EXPECT_THAT(out_, HasSubstr("'find:Finds a cheapest path and draws it'"));
  EXPECT_THAT(out_, HasSubstr("'waystar find --algorithm') compadd -- auto astar dijkstra jump-point "
                              "lazy-theta hierarchy polyanya; return ;;\n"));
  EXPECT_THAT(out_, HasSubstr("'waystar find 0') _waystar_maps ;;\n"));
  EXPECT_THAT(out_, HasSubstr("'waystar map import 0') _files ;;\n"));
}

TEST_F(CompletionTest, Fish) {
  EXPECT_EQ(RunBare({"completion", "fish"}), ExitCode::kOk);
  EXPECT_THAT(out_,
              HasSubstr(R"(complete -c waystar -n '__waystar_at \'waystar\'' -a find -d 'Finds a cheapest)"));
  EXPECT_THAT(
      out_,
      HasSubstr(
          R"(-n '__waystar_at \'waystar find\'' -l algorithm -x -a 'auto astar dijkstra jump-point lazy-theta hierarchy polyanya')"));
  EXPECT_THAT(out_, HasSubstr(R"(-n '__waystar_at \'waystar find\' 0' -a '(__waystar_maps)')"));
  EXPECT_THAT(out_, HasSubstr(R"(-n '__waystar_at \'waystar map export\'' -s o -l output -r -F)"));
}

TEST_F(CompletionTest, OtherShellsAreRefused) { EXPECT_EQ(RunBare({"completion", "csh"}), ExitCode::kUsage); }

}  // namespace
}  // namespace waystar::cli
