// The page and who may ask for it.

#include "client/inspect/inspector.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/inspect/guard.h"
#include "client/inspect/page_files.h"
#include "gmock/gmock.h"
#include "tests/client/inspect/inspected_server.h"
#include "tests/http/http_call.h"

namespace waystar::inspect {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using waystar::testing::Call;
using waystar::testing::HttpCall;
using waystar::testing::HttpRequest;
using waystar::testing::InspectedServer;
using waystar::testing::StartInspector;

// The page needs no server behind it.
std::unique_ptr<Inspector> StartAlone() { return StartInspector({.target = "127.0.0.1:1"}); }

const PageFile* FindFile(const std::string& path) {
  for (const PageFile& file : PageFiles()) {
    if (file.path == path) {
      return &file;
    }
  }
  return nullptr;
}

// What stands between the quotes after each `before` in a file.
std::vector<std::string> Quoted(absl::string_view text, absl::string_view before) {
  std::vector<std::string> found;
  std::vector<absl::string_view> parts = absl::StrSplit(text, before);
  for (size_t i = 1; i < parts.size(); ++i) {
    found.emplace_back(parts[i].substr(0, parts[i].find('"')));
  }
  return found;
}

TEST(InspectorTest, ServesThePage) {
  const auto inspector = StartAlone();
  HttpCall page(inspector->port(), {});
  EXPECT_EQ(page.code(), 200);
  EXPECT_EQ(page.Header("content-type"), "text/html; charset=utf-8");
  EXPECT_EQ(page.Header("x-content-type-options"), "nosniff");
  EXPECT_THAT(
      page.Header("content-security-policy"),
      AllOf(HasSubstr("default-src 'none'"), HasSubstr("script-src 'self'"), Not(HasSubstr("unsafe"))));
  EXPECT_THAT(page.Body(), HasSubstr("<title>Waystar inspector</title>"));
  HttpCall script(inspector->port(), {.path = "/app.js"});
  EXPECT_EQ(script.Header("content-type"), "text/javascript; charset=utf-8");
}

TEST(InspectorTest, SendsNoFileTwice) {
  const auto inspector = StartAlone();
  const std::string etag = HttpCall(inspector->port(), {.path = "/style.css"}).Header("etag");
  EXPECT_FALSE(etag.empty());
  HttpCall again(inspector->port(), {.path = "/style.css", .headers = {{"If-None-Match", etag}}});
  EXPECT_EQ(again.code(), 304);
  EXPECT_EQ(again.Body(), "");
  HttpCall changed(inspector->port(), {.path = "/style.css", .headers = {{"If-None-Match", "\"other\""}}});
  EXPECT_EQ(changed.code(), 200);
}

TEST(InspectorTest, ServesNothingElse) {
  const auto inspector = StartAlone();
  for (const char* const path : {"/nothing", "/../etc/passwd", "/page/app.js", "/index.html", "/rpc"}) {
    EXPECT_EQ(HttpCall(inspector->port(), {.path = path}).code(), 404) << path;
  }
  EXPECT_EQ(HttpCall(inspector->port(), {.method = "POST"}).code(), 405);
}

TEST(InspectorTest, IsForThoseWhoCallItByItsName) {
  const auto inspector = StartAlone();
  HttpCall rebound(inspector->port(), {.headers = {{"Host", "evil.example:7451"}}});
  EXPECT_EQ(rebound.code(), 421);
  EXPECT_THAT(rebound.Body(), Not(HasSubstr("<html")));
  EXPECT_EQ(HttpCall(inspector->port(), {.headers = {{"Host", "localhost"}}}).code(), 200);
}

TEST(InspectorTest, IsForItsOwnPage) {
  InspectedServer inspected;
  HttpRequest strange = Call("MapService/ListMaps", "{}");
  strange.headers["Origin"] = "https://evil.example";
  EXPECT_EQ(HttpCall(inspected.port(), strange).code(), 403);
  HttpRequest own = Call("MapService/ListMaps", "{}");
  own.headers["Origin"] = absl::StrCat("http://127.0.0.1:", inspected.port());
  EXPECT_EQ(HttpCall(inspected.port(), own).code(), 200);
}

TEST(InspectorTest, RefusesWhereItCannotListen) {
  for (const char* const listen : {"", "7451", ":7451", "127.0.0.1:", "127.0.0.1:70000", "127.0.0.1:x"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Inspector::Start({.listen = listen}, {}).status())) << listen;
  }
  const auto inspector = StartAlone();
  const std::string taken = absl::StrCat("127.0.0.1:", inspector->port());
  const absl::Status in_use = Inspector::Start({.listen = taken}, {}).status();
  EXPECT_TRUE(absl::IsUnavailable(in_use));
  EXPECT_NE(in_use.message().find("in use"), absl::string_view::npos) << in_use;
  EXPECT_TRUE(absl::IsInvalidArgument(
      Inspector::Start({.listen = "127.0.0.1:0"}, {.target = "far:7450", .token = "open"}).status()));
}

TEST(GuardTest, KnowsItsOwnHost) {
  for (const char* const host : {"127.0.0.1:7451", "127.0.0.1", "localhost:7451", "LocalHost", "[::1]:7451",
                                 "192.168.1.5:80", "inspector.lan:7451"}) {
    EXPECT_TRUE(IsOwnHost(host, "inspector.lan")) << host;
  }
  for (const char* const host : {"", "evil.example", "evil.example:7451", "127.0.0.1.evil.example",
                                 "localhost.evil.example", "[evil]:7451", "[", ":7451", "::1"}) {
    EXPECT_FALSE(IsOwnHost(host, "inspector.lan")) << host;
  }
}

TEST(GuardTest, KnowsItsOwnOrigin) {
  EXPECT_TRUE(IsOwnOrigin("", "localhost:7451"));
  EXPECT_TRUE(IsOwnOrigin("http://localhost:7451", "localhost:7451"));
  for (const char* const origin : {"null", "http://localhost:80", "http://evil.example", "localhost:7451",
                                   "http://localhost:7451.evil.example"}) {
    EXPECT_FALSE(IsOwnOrigin(origin, "localhost:7451")) << origin;
  }
}

// Of other sites, inline scripts and styles the content policy would keep nothing.
TEST(PageTest, IsWhole) {
  for (const PageFile& file : PageFiles()) {
    const std::string name(file.path);
    const absl::string_view text(file.text.data(), file.text.size());
    for (const absl::string_view before : {"from \"./", "src=\"", "rel=\"stylesheet\" href=\""}) {
      for (const std::string& path : Quoted(text, before)) {
        EXPECT_NE(FindFile("/" + path), nullptr) << name << " needs " << path;
      }
    }
    EXPECT_FALSE(absl::StrContains(text, "style=\"")) << name;
    EXPECT_FALSE(absl::StrContains(text, "https://")) << name;
  }
}

}  // namespace
}  // namespace waystar::inspect
