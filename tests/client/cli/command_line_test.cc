// Behaviour of all commands: help, mistakes, the connection and its errors, completions, the manual page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/completion/completion.h"
#include "tests/client/cli/command_test.h"
#include "tests/testing/certificates.h"
#include "tests/testing/own_folder.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CommandLineTest : public waystar::CommandTest {
 protected:
  CommandLineTest() {
    server_.list_maps = [this](grpc::ServerContext& context, const auto&, v1::ListMapsResponse& response) {
      token_ = waystar::TokenOf(context);
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
       {"watch arena --count x", "waystar: --count: 'x' is not a valid number\n"},
       {"find arena 1,1 2,2 --max-cost x", "waystar: --max-cost: 'x' is not a valid number\n"},
       {"walk arena 1,1 2,2 --pace fast", "waystar: --pace: 'fast' is not a number from 0 to 1000\n"},
       {"find arena 1,1 2,2 --co auto",
        "'--co' may be any of --cost, --corner-rule, --corridor, --context, --color"},
       {"find arena 1,1 2,2 --form curves", "--form: curves not in {cells,corners,directions,smoothed}"},
       {"completion csh", "csh"}});
  EXPECT_EQ(RunBare({}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("which command? One of find, paths, walk"));
  for (const auto& [word, meant] : {std::pair("fin", "find"),
                                    {"unblok", "unblock"},
                                    {"helath", "health"},
                                    {"frobnicate", ""},
                                    {"xyz", ""}}) {
    EXPECT_EQ(Run(word), ExitCode::kUsage);
    const std::string hint = *meant == '\0' ? "\n" : absl::StrCat("; did you mean '", meant, "'?\n");
    EXPECT_THAT(err_, StartsWith(absl::StrCat("waystar: there is no command '", word, "'", hint)));
  }
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

TEST_F(CommandLineTest, TheBeginningOfAnOptionIsEnough) {
  ExpectRequests(server_.find_path, {{"find arena 0,0 4,0 --alg=dijkstra --no-p --prof tank",
                                      "map: 'arena' start { cell {} } goals { cell { x: 4 } }"
                                      " algorithm: ALGORITHM_DIJKSTRA agent { profile_name: 'tank' }"}});
}

TEST_F(CommandLineTest, SaysWhatWasMeant) {
  server_.find_path = [](auto&, const v1::FindPathRequest& request, auto&) {
    return request.start().has_node()
               ? Refusal(grpc::StatusCode::INVALID_ARGUMENT,
                         "start is a node of a waypoint graph; the map is a grid", "BAD_VALUE", "start.node")
               : Refusal(grpc::StatusCode::NOT_FOUND, "there is no map \"arna\"", "MAP_NOT_FOUND", "map");
  };
  EXPECT_EQ(Run("find arena 0 0 1 1"), ExitCode::kRefused);
  EXPECT_THAT(err_, HasSubstr("\nA cell is one word: write 0,0.\n"));
  EXPECT_EQ(Run("find arna 0,0 1,1"), ExitCode::kRefused);
  EXPECT_THAT(err_, HasSubstr("\nDid you mean 'arena'?\n"));
}

TEST_F(CommandLineTest, CommandsAreHelpedWithInGroups) {
  RunBare({"--help"});
  std::size_t at = 0;
  for (const char* line :
       {"\nPaths:\n  find", "\nMaps:\n  map", "\nEdits:\n  block", "\nServer:\n  health", "\nThis tool:\n"}) {
    EXPECT_NE(out_.find(line, at), std::string::npos) << line << out_;
    at = std::min(out_.find(line, at), out_.size());
  }
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
  const waystar::OwnFolder folder;
  const std::string file = folder.Write("token", "three\n");
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

TEST_F(CommandLineTest, CompletesTheLastWord) {
  Serve(server_.list_obstacles, "obstacles { id: 'gate' } obstacles { id: 'fire' }");
  const std::string server = "--server=" + server_.target();
  for (const auto& [line, candidates] : std::vector<std::pair<std::string, std::string>>{
           {"fin", "find\tFinds a cheapest path and draws it\n"},
           {"map exp", "export\tWrites a map as a file\n"},
           {"help unb", "unblock\n"},
           {"find --algorithm h", "hierarchy\n"},
           {"find arena --near",
            "--nearest\tIf the goal cannot be reached, go to the nearest cell that can\n"},
           {"find --nearest " + server + " ar", "arena\n"},
           {"map delete x " + server + " ", "arena\n"},
           {"--server " + server_.target() + " find arena 1,1 ", ""},
           {"map export arena -o ", ":files\n"},
           {"--server ", ""},
           {"obstacle move arena " + server + " g", "gate\n"},
           {"obstacle remove arena gate " + server + " ", "gate\nfire\n"},
           {"find arena " + server + " --ignore-obstacle ", "gate\nfire\n"},
           {"find --ignore-obstacle ", ""},
           {"portal open arena x --cont",
            "--context\tConnect as this context says [the current one of "
            "`waystar context`]\n"}}) {
    std::vector<std::string> words = absl::StrSplit(line, ' ');
    words.insert(words.begin(), "__complete");
    EXPECT_EQ(RunBare(words), ExitCode::kOk);
    EXPECT_EQ(out_, candidates) << line;
  }
  for (const auto& [shell, line] : {std::pair("bash", "complete -F _waystar waystar\n"),
                                    {"zsh", "compdef _waystar waystar\n"},
                                    {"fish", "complete -c waystar -f -a '(__waystar_complete)'\n"}}) {
    EXPECT_EQ(RunBare({"completion", shell}), ExitCode::kOk);
    EXPECT_THAT(out_, HasSubstr(line));
  }
}

TEST_F(CommandLineTest, ManualPageTellsOfEveryCommandWithItsOptionsAndExamples) {
  EXPECT_EQ(RoffText(".it's a --flag of \\n"), "\\&.it\\(aqs a \\-\\-flag of \\en");
  EXPECT_EQ(RoffArgument("a \"b\""), "\"a \\(dqb\\(dq\"");
  EXPECT_EQ(RoffLines("One\n\n  .a\n"), ".nf\nOne\n\n  .a\n.fi\n");
  EXPECT_EQ(RunBare({"man"}), ExitCode::kOk);
  for (const char* line :
       {".TH WAYSTAR 1", ".SS \"waystar map import FILE [OPTIONS]\"\n", ".SS \"waystar top [OPTIONS]\"\n",
        "\\fB\\-\\-output\\fR \\fIFILE\\fR", "waystar map import arena.txt\n", "\\fBWAYSTAR_SERVER\\fR",
        ".SH \"EXIT CODES\"\n"}) {
    EXPECT_THAT(out_, HasSubstr(line));
  }
  EXPECT_THAT(out_, Not(HasSubstr("--")));
}

class UnreachableTest : public waystar::CommandTest {
 protected:
  UnreachableTest() {
    Serve(server_);
    Encrypt(GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  }

  static void Serve(FakeServer& server) {
    server.list_maps = [](auto&, const auto&, auto&) { return grpc::Status::OK; };
  }

  void Encrypt(grpc_ssl_client_certificate_request_type wants_certificate) {
    encrypted_ = std::make_unique<FakeServer>(TlsCredentials(authority_, wants_certificate));
    Serve(*encrypted_);
  }

  ExitCode List(const std::string& target, std::vector<std::string> options) {
    options.insert(options.begin(), {"map", "list", "--server", target, "--timeout", "2m"});
    return RunBare(options);
  }

  ExitCode ListEncrypted(const std::string& ca, const std::string& name) {
    return List(encrypted_->target(), {"--ca", folder_.Write("ca.pem", ca), "--server-name", name});
  }

  const OwnFolder folder_;
  const Authority authority_;
  std::unique_ptr<FakeServer> encrypted_;
};

TEST_F(UnreachableTest, NobodyListens) {
  // A port that a server has given back may be another's by now.
  const std::string target = "127.0.0.1:1";
  EXPECT_EQ(List(target, {}), ExitCode::kUnavailable);
  EXPECT_EQ(err_, absl::StrCat("waystar: cannot reach a server at ", target,
                               ": Connection refused\nIs it running? --server HOST:PORT or WAYSTAR_SERVER "
                               "names another.\n"));
}

TEST_F(UnreachableTest, TheServerSpeaksTls) {
  EXPECT_EQ(List(encrypted_->target(), {}), ExitCode::kUnavailable);
  EXPECT_THAT(err_, StartsWith(absl::StrCat("waystar: the server at ", encrypted_->target(), " speaks TLS")));
  EXPECT_THAT(err_, HasSubstr("--tls"));
}

TEST_F(UnreachableTest, TheServerDoesNotSpeakTls) {
  EXPECT_EQ(List(server_.target(), {"--tls"}), ExitCode::kUnavailable);
  EXPECT_THAT(err_,
              StartsWith(absl::StrCat("waystar: the server at ", server_.target(), " does not speak TLS")));
}

TEST_F(UnreachableTest, TheServersCertificateIsNotTrusted) {
  EXPECT_EQ(ListEncrypted(authority_.cert(), "waystar.test"), ExitCode::kOk) << err_;
  EXPECT_EQ(ListEncrypted(Authority().cert(), "waystar.test"), ExitCode::kUnavailable);
  EXPECT_THAT(err_, HasSubstr("is not trusted: "));
  EXPECT_THAT(err_, HasSubstr("--ca FILE"));
  EXPECT_THAT(err_, Not(HasSubstr("SSL_ERROR")));
  EXPECT_EQ(ListEncrypted(authority_.cert(), "other.test"), ExitCode::kUnavailable);
  EXPECT_THAT(err_, HasSubstr("is not trusted: hostname mismatch"));
}

TEST_F(UnreachableTest, TheServerWantsACertificate) {
  Encrypt(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  EXPECT_EQ(ListEncrypted(authority_.cert(), "waystar.test"), ExitCode::kUnavailable);
  EXPECT_THAT(err_, HasSubstr("wants a certificate"));
  EXPECT_THAT(err_, HasSubstr("--cert FILE and --key FILE"));
}

TEST_F(UnreachableTest, TheServerIsNotServing) {
  server_.SetServing(false);
  EXPECT_EQ(List(server_.target(), {}), ExitCode::kUnavailable);
  EXPECT_THAT(err_, StartsWith(absl::StrCat("waystar: the server at ", server_.target(), " is not serving")));
}

TEST_F(UnreachableTest, AnAddressThatIsNone) {
  EXPECT_EQ(List("localhost:99999", {}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("the port is a number from 1 to 65535, not '99999'"));
  EXPECT_EQ(List("http://localhost:7450", {}), ExitCode::kUsage);
}

}  // namespace
}  // namespace waystar::cli
