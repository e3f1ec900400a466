// The page that the server serves over HTTP, and who may ask for it.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "server/service/gateway/http_gateway.h"
#include "tests/service/auth/guarded_server.h"
#include "tests/service/gateway/http_server.h"
#include "tests/service/transport/http/http_call.h"

namespace waystar::rpc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const PageFile* FindFile(const std::string& path) {
  for (const PageFile& file : PageFiles()) {
    if (file.path == path) {
      return &file;
    }
  }
  return nullptr;
}

// Returns the quoted text that follows each `before` in a file.
std::vector<std::string> Quoted(absl::string_view text, absl::string_view before) {
  std::vector<std::string> found;
  std::vector<absl::string_view> parts = absl::StrSplit(text, before);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    found.emplace_back(parts[i].substr(0, parts[i].find('"')));
  }
  return found;
}

TEST(HttpPageTest, IsServed) {
  HttpServer server;
  HttpCall page(server.port(), {});
  EXPECT_EQ(page.code(), 200);
  EXPECT_EQ(page.Header("content-type"), "text/html; charset=utf-8");
  EXPECT_EQ(page.Header("x-content-type-options"), "nosniff");
  EXPECT_EQ(page.Header("referrer-policy"), "no-referrer");
  EXPECT_EQ(page.Header("cross-origin-resource-policy"), "same-origin");
  EXPECT_THAT(
      page.Header("content-security-policy"),
      AllOf(HasSubstr("default-src 'none'"), HasSubstr("script-src 'self'"), Not(HasSubstr("unsafe"))));
  EXPECT_THAT(page.Body(), HasSubstr("<title>Waystar inspector</title>"));
  for (const auto& [path, type] :
       {std::pair("/app.js", "text/javascript; charset=utf-8"),
        std::pair("/style.css", "text/css; charset=utf-8"), std::pair("/icon.svg", "image/svg+xml")}) {
    HttpCall file(server.port(), {.path = path});
    EXPECT_EQ(file.code(), 200) << path;
    EXPECT_EQ(file.Header("content-type"), type) << path;
    EXPECT_EQ(file.Body(), FindFile(path)->text) << path;
  }
}

TEST(HttpPageTest, IsNotSentTwice) {
  HttpServer server;
  const std::string etag = HttpCall(server.port(), {.path = "/style.css"}).Header("etag");
  EXPECT_FALSE(etag.empty());
  HttpCall again(server.port(), {.path = "/style.css", .headers = {{"If-None-Match", etag}}});
  EXPECT_EQ(again.code(), 304);
  EXPECT_EQ(again.Body(), "");
  HttpCall changed(server.port(), {.path = "/style.css", .headers = {{"If-None-Match", "\"other\""}}});
  EXPECT_EQ(changed.code(), 200);
}

TEST(HttpPageTest, HasNoOtherFiles) {
  HttpServer server;
  for (const char* const path :
       {"/nothing", "/../etc/passwd", "/page/app.js", "/index.html", "//", "/app.js/"}) {
    EXPECT_EQ(HttpCall(server.port(), {.path = path}).code(), 404) << path;
  }
}

TEST(HttpPageTest, IsRead) {
  HttpServer server;
  HttpCall head(server.port(), {.method = "HEAD"});
  EXPECT_EQ(head.code(), 200);
  EXPECT_EQ(head.Header("content-length"), absl::StrCat(FindFile("/")->text.size()));
  HttpCall post(server.port(), {.method = "POST"});
  EXPECT_EQ(post.code(), 405);
  EXPECT_EQ(post.Header("allow"), "GET, HEAD, OPTIONS");
}

TEST(HttpPageTest, IsForThoseWhoCallTheServerByItsName) {
  HttpServer server({.http_allow_origin = "https://game.example"});
  HttpCall rebound(server.port(), {.headers = {{"Host", "evil.example:7451"}}});
  EXPECT_EQ(rebound.code(), 421);
  const std::string body = rebound.Body();
  EXPECT_THAT(body, Not(HasSubstr("<html")));
  EXPECT_EQ(ReasonIn(FromJson<google::rpc::Status>(body)), "ORIGIN_NOT_ALLOWED");
  for (const char* const host : {"localhost", "127.0.0.1", "game.example"}) {
    EXPECT_EQ(HttpCall(server.port(), {.headers = {{"Host", host}}}).code(), 200) << host;
  }
}

TEST(HttpPageTest, MayCall) {
  HttpServer server;
  const HttpRequest request = Post("MapService/ListMaps", "{}");
  const std::string host = absl::StrCat("127.0.0.1:", server.port());
  EXPECT_EQ(HttpCall(server.port(), WithHeader(request, "Origin", absl::StrCat("http://", host))).code(),
            200);
  for (const std::string& origin :
       {std::string("https://evil.example"), std::string("null"), absl::StrCat("https://", host),
        absl::StrCat("http://localhost:", server.port()), std::string("http://127.0.0.1:1")}) {
    HttpCall strange(server.port(), WithHeader(request, "Origin", origin));
    EXPECT_EQ(strange.code(), 403) << origin;
  }
  // A foreign name that leads here: the browser takes page and call for one site.
  HttpCall rebound(server.port(), WithHeader(WithHeader(request, "Host", "evil.example:80"), "Origin",
                                             "http://evil.example:80"));
  EXPECT_EQ(rebound.code(), 403);
}

TEST(HttpPageTest, NeedsNoTokenButForItsCalls) {
  GuardedServer guarded("", HttpServer::OverHttp({}));
  const int port = guarded.server().server().http_port();
  EXPECT_EQ(HttpCall(port, {}).code(), 200);
  EXPECT_EQ(HttpCall(port, {.path = "/api.js"}).code(), 200);
  HttpCall call(port, Post("MapService/ListMaps", "{}"));
  EXPECT_EQ(call.code(), 401);
  EXPECT_EQ(ReasonIn(FromJson<google::rpc::Status>(call.Body())), "MISSING_TOKEN");
}

TEST(AllowedOriginsTest, AreThoseOfTheList) {
  const auto origins = AllowedOrigins::Parse("https://game.example, http://localhost:5173").value();
  EXPECT_TRUE(origins.Allows("https://game.example"));
  EXPECT_TRUE(origins.Allows("http://localhost:5173"));
  for (const char* const other : {"", "null", "http://game.example", "https://game.example:8443",
                                  "https://game.example.evil.example", "http://localhost"}) {
    EXPECT_FALSE(origins.Allows(other)) << other;
  }
}

TEST(AllowedOriginsTest, AreNoneOrAll) {
  EXPECT_FALSE(AllowedOrigins::Parse("")->Allows("https://game.example"));
  EXPECT_TRUE(AllowedOrigins::Parse("*")->Allows("https://game.example"));
}

TEST(AllowedOriginsTest, RefuseWhatIsNoOrigin) {
  for (const char* const text : {"game.example", "https://", "https://game.example/", "https://Game.example",
                                 "https://*.example", "ftp://game.example", "https://a.example b"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(AllowedOrigins::Parse(text).status())) << text;
  }
}

TEST(OwnSiteTest, KnowsItsOwnHost) {
  for (const char* const host : {"127.0.0.1:7451", "127.0.0.1", "localhost:7451", "LocalHost", "[::1]:7451",
                                 "192.168.1.5:80", "waystar.lan:7451"}) {
    EXPECT_TRUE(IsOwnHost(host, "waystar.lan")) << host;
  }
  for (const char* const host : {"", "evil.example", "evil.example:7451", "127.0.0.1.evil.example",
                                 "localhost.evil.example", "[evil]:7451", "[", ":7451", "::1"}) {
    EXPECT_FALSE(IsOwnHost(host, "waystar.lan")) << host;
  }
}

TEST(OwnSiteTest, KnowsItsOwnOrigin) {
  EXPECT_TRUE(IsOwnOrigin("http://localhost:7451", "localhost:7451", false));
  EXPECT_TRUE(IsOwnOrigin("https://localhost:7451", "localhost:7451", true));
  EXPECT_FALSE(IsOwnOrigin("http://localhost:7451", "localhost:7451", true));
  for (const char* const origin : {"", "null", "http://localhost:80", "http://evil.example", "localhost:7451",
                                   "http://localhost:7451.evil.example", "https://localhost:7451"}) {
    EXPECT_FALSE(IsOwnOrigin(origin, "localhost:7451", false)) << origin;
  }
}

// Files use only what the content policy allows: no other sites, no inline scripts or styles.
TEST(PageFilesTest, AreWhole) {
  for (const PageFile& file : PageFiles()) {
    const std::string name(file.path);
    const absl::string_view text(file.text.data(), file.text.size());
    EXPECT_LT(text.size(), std::size_t{64} << 10) << name;
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
}  // namespace waystar::rpc
