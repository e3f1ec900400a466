#include "server/service/gateway/allowed_origins.h"

#include "gmock/gmock.h"

namespace waystar::rpc {
namespace {

TEST(AllowedOriginsTest, AreThoseOfTheList) {
  const auto origins = AllowedOrigins::Parse("https://game.example, http://localhost:5173");
  ASSERT_TRUE(origins.ok()) << origins.status();
  EXPECT_TRUE(origins->Allows("https://game.example"));
  EXPECT_TRUE(origins->Allows("http://localhost:5173"));
  for (const char* const other : {"", "null", "http://game.example", "https://game.example:8443",
                                  "https://game.example.evil.example", "http://localhost"}) {
    EXPECT_FALSE(origins->Allows(other)) << other;
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

}  // namespace
}  // namespace waystar::rpc
