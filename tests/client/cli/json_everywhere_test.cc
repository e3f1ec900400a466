// Every command there is has --json, or a reason why not.

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tests/client/cli/served_command_test.h"

namespace waystar::cli {
namespace {

using ::testing::IsEmpty;

// By command, how it is called, in any order.
// $F stands for a file of a map, $Q for one of queries, $B for a backup, $A and $O for files and $D for a
// folder that are not there yet.
const std::map<std::string, std::string>& Calls() {
  static const auto* const kCalls = new std::map<std::string, std::string>{
      {"agents", "agents m"},
      {"animate", "animate m 0,0 5,2 -o $A.gif"},
      {"backup", "backup $D"},
      {"bench", "bench m --rate 50 --duration 300ms --warm-up 0 --deadline 1m"},
      {"block", "block m 3,0"},
      {"check-moves", "check-moves m 0,0 5,2 1m --speed 1"},
      {"cluster", "cluster m"},
      {"explain", "explain m 0,0 5,2"},
      {"find", "find m 0,0 5,2"},
      {"flow", "flow m 5,2"},
      {"ground put", "ground put floor bridge 1,0..2,0..2,1"},
      {"ground remove", "ground remove floor old"},
      {"health", "health"},
      {"info", "info"},
      {"log-level", "log-level info"},
      {"map create", "map create created 4x3"},
      {"map delete", "map delete doomed"},
      {"map export", "map export m -o $O"},
      {"map import", "map import $F --as imported"},
      {"map list", "map list"},
      {"map show", "map show m"},
      {"matrix", "matrix m --from 0,0 --to 5,2"},
      {"obstacle list", "obstacle list m"},
      {"obstacle move", "obstacle move m crate 1,0"},
      {"obstacle put", "obstacle put m barrel 5,0"},
      {"obstacle remove", "obstacle remove m old"},
      {"obstacle resize", "obstacle resize m disc disc:1,1,1"},
      {"paths", "paths m $Q"},
      {"portal close", "portal close m stairs"},
      {"portal list", "portal list m"},
      {"portal open", "portal open m stairs"},
      {"portal put", "portal put m ladder 2,0 3,2"},
      {"portal remove", "portal remove m old"},
      {"probe", "probe floor 0.5,0.5"},
      {"ray", "ray m 0,0 2,0"},
      {"reach", "reach m 0,0 --max-cost 3"},
      {"reachable", "reachable m 0,0 5,2"},
      {"render", "render m"},
      {"restore", "restore $B doomed --replace"},
      {"sample", "sample m"},
      {"terrain", "terrain m . 3,0"},
      {"token", "token arena-1 read:*"},
      {"top", "top --count 1 --interval 1ms"},
      {"trace", "trace m 0,0 5,2"},
      {"unblock", "unblock m 3,0"},
      {"validate", "validate m 0,0 1,0"},
      {"walk", "walk m 0,0 5,2 --pace 1000"},
      {"watch", "watch m --from 2 --count 1"},
  };
  return *kCalls;
}

// What these print is no answer of a server.
const std::map<std::string, std::string>& WithoutJson() {
  static const auto* const kWithoutJson = new std::map<std::string, std::string>{
      {"context add", "keeps a file of this machine"},
      {"context list", "shows files of this machine"},
      {"context remove", "removes a file of this machine"},
      {"context use", "keeps a file of this machine"},
      {"completion", "prints a script for a shell"},
      {"man", "prints a manual page"},
      {"help", "prints help"},
  };
  return *kWithoutJson;
}

bool IsJson(const std::string& text) {
  google::protobuf::Struct object;
  return google::protobuf::util::JsonStringToMessage(text, &object).ok();
}

bool AreJsonLines(const std::string& text) {
  const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  return !lines.empty() && std::all_of(lines.begin(), lines.end(), &IsJson);
}

class JsonEverywhereTest : public waystar::ServedCommandTest {
 protected:
  JsonEverywhereTest() {
    for (const char* const map : {"m", "doomed"}) {
      server_.Create(map, {"......", ".#....", "......"});
    }
    v1::CreateMapRequest floor;
    floor.set_map("floor");
    floor.set_data("mesh 2 4 1\n0 0 1 0\n1 0 1 0\n1 1 1 0\n0 1 1 0\n4 0 1 2 3 -1 -1 -1 -1\n");
    EXPECT_TRUE(server_.client().CreateMap(floor).ok());
    folder_.Write("F", "..\n..\n");
    folder_.Write("Q", "0,0 5,2\n");
    for (const char* const setup :
         {"obstacle put m crate 0,2", "obstacle put m old 0,2", "portal put m old 1,0 5,0",
          "obstacle put m disc disc:1,1,0", "portal put m stairs 0,0 5,2",
          "ground put floor old 5,0..6,0..6,1", "backup $B"}) {
      EXPECT_EQ(Run(Arguments(setup)), ExitCode::kOk) << setup << ": " << err_;
    }
  }

  std::vector<std::string> Arguments(const std::string& call) {
    std::vector<std::string> arguments;
    for (const absl::string_view word : absl::StrSplit(call, ' ')) {
      arguments.push_back(absl::StartsWith(word, "$") ? folder_.PathOf(std::string(word.substr(1)))
                                                      : std::string(word));
    }
    return arguments;
  }

  // Returns the commands without subcommands, by their names on the manual page.
  std::vector<std::string> AllCommands() {
    std::vector<std::string> commands;
    EXPECT_EQ(Run({"man"}), ExitCode::kOk);
    for (absl::string_view line : absl::StrSplit(out_, '\n')) {
      if (absl::ConsumePrefix(&line, ".SS \"waystar ")) {
        std::vector<std::string> words;
        for (const absl::string_view word : absl::StrSplit(absl::StripSuffix(line, "\""), ' ')) {
          if (word.front() != '[' && !absl::ascii_isupper(static_cast<unsigned char>(word.front()))) {
            words.emplace_back(word);
          }
        }
        commands.push_back(absl::StrReplaceAll(absl::StrJoin(words, " "), {{"\\-", "-"}}));
      }
    }
    return commands;
  }
};

TEST_F(JsonEverywhereTest, EveryCommandIsListed) {
  std::vector<std::string> unlisted;
  for (const std::string& command : AllCommands()) {
    if (!Calls().contains(command) && !WithoutJson().contains(command)) {
      unlisted.push_back(command);
    }
  }
  EXPECT_THAT(unlisted, IsEmpty());
}

TEST_F(JsonEverywhereTest, EveryAnswerIsAnObjectOrOneALine) {
  for (const std::string& command : AllCommands()) {
    const auto call = Calls().find(command);
    if (call == Calls().end()) {
      continue;
    }
    std::vector<std::string> arguments = Arguments(call->second);
    arguments.push_back("--json");
    EXPECT_EQ(Run(arguments), ExitCode::kOk) << command << ": " << err_;
    EXPECT_EQ(err_, "") << command;
    EXPECT_TRUE(IsJson(out_) || AreJsonLines(out_)) << command << ": " << out_;
  }
}

TEST_F(JsonEverywhereTest, ErrorsAreObjectsToo) {
  EXPECT_EQ(Run({"find", "nowhere", "0,0", "1,1", "--json"}), ExitCode::kRefused);
  EXPECT_TRUE(IsJson(err_)) << err_;
}

}  // namespace
}  // namespace waystar::cli
