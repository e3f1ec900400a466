// `waystar context`, and which commands use a context.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/client/cli/command_test.h"
#include "tests/testing/own_folder.h"

namespace waystar::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
namespace fs = std::filesystem;

class ContextCommandsTest : public waystar::CommandTest {
 protected:
  ContextCommandsTest() {
    setenv("XDG_CONFIG_HOME", folder_.path().c_str(), /*overwrite=*/1);
    for (FakeServer* const server : {&server_, &other_}) {
      server->list_maps = [this, server](grpc::ServerContext& context, const auto&, auto&) {
        calls_.emplace_back(server, waystar::TokenOf(context));
        return grpc::Status::OK;
      };
    }
    EXPECT_EQ(Context({"add", "prod", "--server", server_.target(), "--token", "secret"}), ExitCode::kOk)
        << err_;
  }
  ~ContextCommandsTest() override { unsetenv("XDG_CONFIG_HOME"); }

  ExitCode Context(std::vector<std::string> words) {
    words.insert(words.begin(), "context");
    return RunBare(words);
  }

  std::string FileOf(const std::string& context) { return folder_.PathOf("waystar/contexts/" + context); }

  const OwnFolder folder_;
  FakeServer other_;
  std::vector<std::pair<FakeServer*, std::string>> calls_;
};

TEST_F(ContextCommandsTest, KeepsConnectionsUnderNames) {
  EXPECT_EQ(out_, "Added prod. `waystar context use prod` makes it the current one.\n");
  EXPECT_EQ(fs::status(FileOf("prod")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  const std::string token = folder_.Write("token", "other\n");
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  EXPECT_EQ(Context({"add", "test", "--server=" + other_.target(), "--token-file", "token"}), ExitCode::kOk);
  fs::current_path(before);
  std::string lines;
  std::getline(std::ifstream(FileOf("test")), lines, '\0');
  EXPECT_EQ(lines, "--server=" + other_.target() + "\n--token-file=" + token + "\n");
  EXPECT_EQ(Context({"use", "test"}), ExitCode::kOk);
  EXPECT_EQ(out_, "test is the current context.\n");
  EXPECT_EQ(Context({"list"}), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr("prod     " + server_.target() + "\n"));
  EXPECT_THAT(out_, HasSubstr("test     " + other_.target() + "  current\n"));
  EXPECT_EQ(Context({"remove", "test"}), ExitCode::kOk);
  EXPECT_EQ(Context({"list", "--names"}), ExitCode::kOk);
  EXPECT_EQ(out_, "prod\n");
  EXPECT_FALSE(fs::exists(folder_.path() / "waystar/current"));
}

TEST_F(ContextCommandsTest, ATokenGoesToTheServerOfItsContext) {
  using Call = std::pair<FakeServer*, std::string>;
  EXPECT_EQ(RunBare({"map", "list", "--context", "prod"}), ExitCode::kOk) << err_;
  EXPECT_EQ(Context({"use", "prod"}), ExitCode::kOk);
  EXPECT_EQ(RunBare({"map", "list"}), ExitCode::kOk) << err_;
  EXPECT_EQ(RunBare({"map", "list", "--token", "mine"}), ExitCode::kOk) << err_;
  EXPECT_EQ(RunBare({"map", "list", "--server=" + other_.target()}), ExitCode::kOk) << err_;
  setenv("WAYSTAR_SERVER", other_.target().c_str(), /*overwrite=*/1);
  setenv("WAYSTAR_TOKEN", "environment", /*overwrite=*/1);
  EXPECT_EQ(RunBare({"map", "list"}), ExitCode::kOk) << err_;
  EXPECT_EQ(RunBare({"map", "list", "--contex=prod"}), ExitCode::kOk) << err_;
  unsetenv("WAYSTAR_SERVER");
  EXPECT_EQ(RunBare({"map", "list"}), ExitCode::kOk) << err_;
  unsetenv("WAYSTAR_TOKEN");
  EXPECT_THAT(calls_, ElementsAre(Call(&server_, "Bearer secret"), Call(&server_, "Bearer secret"),
                                  Call(&server_, "Bearer mine"), Call(&other_, "none"),
                                  Call(&other_, "Bearer environment"), Call(&server_, "Bearer secret"),
                                  Call(&server_, "Bearer secret")));
}

TEST_F(ContextCommandsTest, AFileThatOthersReadOrWriteIsNotUsed) {
  EXPECT_EQ(Context({"use", "prod"}), ExitCode::kOk);
  for (const fs::perms others : {fs::perms::group_read, fs::perms::others_write}) {
    fs::permissions(FileOf("prod"), others, fs::perm_options::add);
    EXPECT_EQ(RunBare({"map", "list"}), ExitCode::kUsage);
    EXPECT_THAT(err_,
                StartsWith("waystar: others can read or write " + FileOf("prod") + ", so it is not used\n"));
    EXPECT_THAT(err_, HasSubstr("`chmod 600 "));
    fs::permissions(FileOf("prod"), others, fs::perm_options::remove);
  }
  EXPECT_EQ(RunBare({"map", "list"}), ExitCode::kOk);
  EXPECT_EQ(calls_.size(), 1);
}

TEST_F(ContextCommandsTest, ExplainsMistakes) {
  for (const auto& [words, error] : std::vector<std::pair<std::vector<std::string>, const char*>>{
           {{"context", "add", "test"}, "a context needs a server: --server HOST:PORT"},
           {{"context", "add", "a/b", "--server", "here"}, "'a/b' is not 1 to 63 of the characters"},
           {{"context", "add", "prod", "--server", "here"}, "there is a context prod already"},
           {{"context", "add", "test", "--server", "10.0.0.1", "--token", "x"},
            "a token is not sent to 10.0.0.1"},
           {{"context", "add", "test", "--server", "here", "--ca", "/nowhere"}, "/nowhere cannot be read"},
           {{"context", "use", "prot"}, "there is no context 'prot'; did you mean 'prod'?"},
           {{"context", "remove", "test"}, "there is no context 'test'"},
           {{"map", "list", "--context", "../prod"}, "'../prod' is not 1 to 63"},
           {{"map", "list", "--context", "prod", "--server", "here"},
            "--context and --server both name a server"}}) {
    EXPECT_EQ(RunBare(words), ExitCode::kUsage) << words.back();
    EXPECT_THAT(err_, HasSubstr(error));
  }
  EXPECT_EQ(RunBare({"--help"}), ExitCode::kOk) << "help needs no context";
  EXPECT_THAT(out_, HasSubstr("$WAYSTAR_SERVER"));
}

}  // namespace
}  // namespace waystar::cli
