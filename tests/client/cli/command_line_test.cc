// Tests of the parts that all commands share: help, mistakes, the connection's options, completions and the
// manual page.

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "client/cli/completion/command_tree.h"
#include "client/cli/manual/manual_page.h"
#include "client/cli/usage_error.h"
#include "tests/client/cli/command_test.h"
#include "tests/testing/own_folder.h"

namespace waystar::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CommandLineTest : public ::waystar::testing::CommandTest {
 protected:
  CommandLineTest() {
    server_.list_maps = [this](grpc::ServerContext& context, const auto&, v1::ListMapsResponse& response) {
      const auto token = context.client_metadata().find("authorization");
      token_ = token == context.client_metadata().end()
                   ? ""
                   : std::string(token->second.data(), token->second.size());
      remaining_ = context.deadline() - std::chrono::system_clock::now();
      response.add_maps()->set_map("arena");
      return grpc::Status::OK;
    };
  }

  std::string token_;
  std::chrono::system_clock::duration remaining_{};
};

TEST_F(CommandLineTest, HelpIsAnOptionAndACommand) {
  EXPECT_EQ(RunBare({"--help"}), ExitCode::kOk);
  const std::string help = out_;
  EXPECT_THAT(help, HasSubstr("Exit codes:"));
  EXPECT_THAT(help, HasSubstr("WAYSTAR_SERVER"));
  EXPECT_EQ(RunBare({"help"}), ExitCode::kOk);
  EXPECT_EQ(out_, help);
  EXPECT_EQ(RunBare({"map", "import", "--help"}), ExitCode::kOk);
  const std::string import_help = out_;
  EXPECT_EQ(RunBare({"help", "map", "import"}), ExitCode::kOk);
  EXPECT_EQ(out_, import_help);
  EXPECT_EQ(RunBare({"help", "map", "imprt"}), ExitCode::kUsage);
  EXPECT_EQ(err_, "waystar: there is no command 'imprt'; did you mean 'import'?\n");
  EXPECT_EQ(RunBare({"--version"}), ExitCode::kOk);
  EXPECT_THAT(out_, ::testing::MatchesRegex("waystar [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_F(CommandLineTest, ExplainsMistakes) {
  ExpectMistakes(
      {{"mpa list", "waystar: there is no command 'mpa'; did you mean 'map'?\n"},
       {"map lst", "waystar: there is no command 'lst'; did you mean 'list'?\n"},
       {"find arena 1,1 2,2 --nerest",
        "waystar: there is no option '--nerest'; did you mean '--nearest'?\n"
        "`waystar find --help` tells how to use it.\n"},
       {"map list --sever=x", "did you mean '--server'?"},
       {"map", "which command? One of import, create, list"},
       {"find arena 1,1", "waystar: GOAL is required\n"},
       {"trace arena 1,1 2,2 3,3", "waystar: '3,3' is one argument too many\n"},
       {"map list --timeout 0s", "waystar: --timeout: '0s' is not a length of time"},
       {"find arena 1,1 2,2 --form curves", "--form: curves not in {cells,corners,directions,smoothed}"},
       {"completion csh", "csh"}});
  EXPECT_EQ(RunBare({}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("which command? One of map, find, paths, watch-path"));
  const std::vector<std::string> commands = {"map", "find", "block", "unblock", "health"};
  EXPECT_EQ(Suggest("fin", commands), "find");
  EXPECT_EQ(Suggest("unblok", commands), "unblock");
  EXPECT_EQ(Suggest("helath", commands), "health");
  EXPECT_EQ(Suggest("frobnicate", commands), "");
  EXPECT_EQ(Suggest("xyz", commands), "");
}

TEST_F(CommandLineTest, GlobalOptionsMayStandAnywhere) {
  const std::string server = server_.target();
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--server", server, "map", "list", "--names"},
        {"map", "--server", server, "list", "--names"},
        {"map", "list", "--names", "--server=" + server},
        {"map", "list", "--names", "--wait-for-ready", "--server", server + "," + server}}) {
    EXPECT_EQ(RunBare(arguments), ExitCode::kOk) << err_;
    EXPECT_EQ(out_, "arena\n");
  }
  EXPECT_EQ(Run("map list --timeout 1h"), ExitCode::kOk);
  EXPECT_GT(remaining_, std::chrono::minutes(59));
  EXPECT_LE(remaining_, std::chrono::minutes(61));
  Serve(server_.get_map, "info { map: 'find' }");
  EXPECT_EQ(Run("map show find --no-picture"), ExitCode::kOk) << "a map may have the name of a command";
}

TEST_F(CommandLineTest, TheEnvironmentNamesTheServer) {
  setenv("WAYSTAR_SERVER", server_.target().c_str(), /*overwrite=*/1);
  EXPECT_EQ(RunBare({"map", "list", "--names"}), ExitCode::kOk);
  setenv("WAYSTAR_SERVER", "127.0.0.1:1", /*overwrite=*/1);
  EXPECT_EQ(Run("map list --names"), ExitCode::kOk);
  unsetenv("WAYSTAR_SERVER");
}

TEST_F(CommandLineTest, ATokenComesFromAnOptionTheEnvironmentOrAFile) {
  EXPECT_EQ(Run("map list --token one"), ExitCode::kOk);
  EXPECT_EQ(token_, "Bearer one");
  setenv("WAYSTAR_TOKEN", "two", /*overwrite=*/1);
  EXPECT_EQ(Run("map list"), ExitCode::kOk);
  unsetenv("WAYSTAR_TOKEN");
  EXPECT_EQ(token_, "Bearer two");
  const ::waystar::testing::OwnFolder folder;
  const std::string file = folder.PathOf("token");
  std::ofstream(file) << "three\n";
  EXPECT_EQ(Run("map list --token-file " + file), ExitCode::kOk);
  EXPECT_EQ(token_, "Bearer three");
  setenv("WAYSTAR_TOKEN_FILE", file.c_str(), /*overwrite=*/1);
  EXPECT_EQ(Run("map list"), ExitCode::kOk);
  EXPECT_EQ(token_, "Bearer three");
  EXPECT_EQ(Run("map list --token four"), ExitCode::kOk);
  EXPECT_EQ(token_, "Bearer four");
  unsetenv("WAYSTAR_TOKEN_FILE");
  ExpectMistakes({{"map list --token-file /nowhere/token", "/nowhere/token cannot be read"}});
}

TEST_F(CommandLineTest, ExplainsOptionsOfConnectionsThatMakeNoSense) {
  EXPECT_EQ(RunBare({"map", "list", "--token", "one", "--server", "10.0.0.1:7450"}), ExitCode::kUsage);
  EXPECT_EQ(err_, "waystar: a token is not sent to 10.0.0.1:7450 unencrypted: use TLS\n");
  EXPECT_EQ(RunBare({"map", "list", "--server", "a:1,b:2"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("'a:1' is not an IP address and a port"));
  ExpectMistakes({{"map list --ca /nowhere/ca.pem", "waystar: /nowhere/ca.pem cannot be read\n"},
                  {"map list --tls --cert mine.pem", "its key go together"}});
  setenv("WAYSTAR_CERT", "mine.pem", /*overwrite=*/1);
  ExpectMistakes({{"map list", "its key go together"}});
  unsetenv("WAYSTAR_CERT");
}

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

TEST_F(CommandLineTest, CompletesInEachShell) {
  EXPECT_EQ(RunBare({"completion", "bash"}), ExitCode::kOk);
  for (const char* line :
       {"complete -F _waystar waystar\n", "'waystar 0') _waystar_words 'map find paths watch-path",
        "'waystar help '*) _waystar_words 'map find paths",
        "'waystar find --algorithm') _waystar_words "
        "'auto astar dijkstra jump-point lazy-theta hierarchy polyanya'; return ;;\n",
        "'waystar find --server') return ;;\n", "'waystar find 0') _waystar_maps ;;\n",
        "'waystar map delete '*) _waystar_maps ;;\n",
        "'waystar map export -o'|'waystar map export --output') _waystar_files; return ;;\n",
        "map list --names"}) {
    EXPECT_THAT(out_, HasSubstr(line));
  }
  EXPECT_EQ(RunBare({"completion", "zsh"}), ExitCode::kOk);
  EXPECT_THAT(out_, StartsWith("#compdef waystar\n"));
  for (const char* line : {"'find:Finds a cheapest path and draws it'",
                           "'waystar find --form') compadd -- cells corners directions smoothed; return ;;\n",
                           "'waystar find 0') _waystar_maps ;;\n", "'waystar map import 0') _files ;;\n"}) {
    EXPECT_THAT(out_, HasSubstr(line));
  }
  EXPECT_EQ(RunBare({"completion", "fish"}), ExitCode::kOk);
  for (const char* line :
       {R"(complete -c waystar -n '__waystar_at \'waystar\'' -a find -d 'Finds a cheapest)",
        R"(-n '__waystar_at \'waystar find\'' -l form -x -a 'cells corners directions smoothed')",
        R"(-n '__waystar_at \'waystar find\' 0' -a '(__waystar_maps)')",
        R"(-n '__waystar_at \'waystar map export\'' -s o -l output -r -F)"}) {
    EXPECT_THAT(out_, HasSubstr(line));
  }
}

TEST_F(CommandLineTest, ManualPageTellsOfEveryCommandWithItsOptionsAndExamples) {
  EXPECT_EQ(RoffText(".it's a --flag of \\n"), "\\&.it\\(aqs a \\-\\-flag of \\en");
  EXPECT_EQ(RoffArgument("a \"b\""), "\"a \\(dqb\\(dq\"");
  EXPECT_EQ(RoffParagraphs("One\ntwo.\n\nExamples:\n  a\n  b\n"),
            ".PP\nOne\ntwo.\n.PP\nExamples:\n.RS\n.nf\na\nb\n.fi\n.RE\n");
  EXPECT_EQ(RunBare({"man"}), ExitCode::kOk);
  for (const char* line :
       {".TH WAYSTAR 1", ".SS \"waystar map import FILE [OPTIONS]\"\n", ".SS \"waystar top [OPTIONS]\"\n",
        "\\fB\\-\\-output\\fR \\fIFILE\\fR", "waystar map import arena.txt\n", "\\fBWAYSTAR_SERVER\\fR",
        ".SH \"EXIT CODES\"\n"}) {
    EXPECT_THAT(out_, HasSubstr(line));
  }
  EXPECT_THAT(out_, Not(HasSubstr("--")));
}

}  // namespace
}  // namespace waystar::cli
