// That the server takes the tokens that the command line tool makes.

#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "client/cli/app.h"
#include "gmock/gmock.h"
#include "server/service/auth/token_list.h"
#include "tests/testing/status_matchers.h"

namespace waystar::rpc {
namespace {

TEST(TokenCommandTest, MakesTokensThatTheServerTakes) {
  std::istringstream in;
  std::ostringstream out;
  cli::Io io{in, out, out};
  ASSERT_EQ(cli::Run({"token", "Arena.1", "update:arena-*", "admin:x_.*"}, io), cli::ExitCode::kOk);
  const std::vector<std::string> lines = absl::StrSplit(out.str(), '\n');
  ASSERT_GE(lines.size(), 4);
  const auto list = TokenList::Parse(lines[3]);
  ASSERT_THAT(list, ::waystar::testing::IsOk());
  const auto token = list->Find(HashToken(lines[1]));
  ASSERT_NE(token, nullptr);
  EXPECT_EQ(token->name, "Arena.1");
  EXPECT_TRUE(token->May(Permission::kUpdate, "arena-3"));
}

}  // namespace
}  // namespace waystar::rpc
