#include "server/service/gateway/http_places.h"

#include <list>
#include <memory>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"

namespace waystar::rpc {
namespace {

TEST(HttpPlacesTest, LeaveRoomForOtherAddresses) {
  const auto places = std::make_shared<HttpPlaces>(8, 1000);
  std::list<HttpPlaces::Place> taken;
  int count = 0;
  while (taken.emplace_back(places).Take("192.0.2.1").ok()) {
    ++count;
  }
  EXPECT_EQ(count, 6);
  EXPECT_TRUE(HttpPlaces::Place(places).Take("192.0.2.2").ok());
  taken.clear();
  EXPECT_TRUE(HttpPlaces::Place(places).Take("192.0.2.1").ok());
}

TEST(HttpPlacesTest, LeaveRoomForThoseThatAreNoStreams) {
  const auto places = std::make_shared<HttpPlaces>(8, 1000);
  std::list<HttpPlaces::Place> taken;
  int streams = 0;
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(taken.emplace_back(places).Take(absl::StrCat("192.0.2.", i)).ok());
    streams += taken.back().TakeStream().ok() ? 1 : 0;
  }
  EXPECT_EQ(streams, 5);
  taken.clear();
  HttpPlaces::Place place(places);
  EXPECT_TRUE(place.Take("192.0.2.1").ok());
  EXPECT_TRUE(place.TakeStream().ok());
}

TEST(HttpPlacesTest, LeaveStreamsForOtherAddresses) {
  const auto places = std::make_shared<HttpPlaces>(80, 1000);
  std::list<HttpPlaces::Place> taken;
  int streams = 0;
  while (taken.emplace_back(places).Take("192.0.2.1").ok() && taken.back().TakeStream().ok()) {
    ++streams;
  }
  EXPECT_EQ(streams, 37);
  HttpPlaces::Place other(places);
  EXPECT_TRUE(other.Take("192.0.2.2").ok());
  EXPECT_TRUE(other.TakeStream().ok());
}

TEST(HttpPlacesTest, HoldAnswersUpToALimitAndAnyThatIsAlone) {
  const auto places = std::make_shared<HttpPlaces>(8, 1000);
  {
    HttpPlaces::Place large(places);
    HttpPlaces::Place other(places);
    EXPECT_TRUE(large.HoldAnswer(5000));
    EXPECT_FALSE(other.HoldAnswer(1));
  }
  HttpPlaces::Place first(places);
  HttpPlaces::Place second(places);
  ASSERT_TRUE(first.Take("192.0.2.1").ok());
  ASSERT_TRUE(second.Take("192.0.2.2").ok());
  EXPECT_TRUE(first.HoldAnswer(400));
  EXPECT_TRUE(second.HoldAnswer(600));
  EXPECT_FALSE(HttpPlaces::Place(places).HoldAnswer(1));
  // What has left makes room.
  EXPECT_TRUE(second.HoldAnswer(500));
  EXPECT_TRUE(HttpPlaces::Place(places).HoldAnswer(100));
}

TEST(HttpPlacesTest, LeaveMemoryForOtherAddresses) {
  const auto places = std::make_shared<HttpPlaces>(80, 1000);
  std::list<HttpPlaces::Place> taken;
  int answers = 0;
  do {
    ASSERT_TRUE(taken.emplace_back(places).Take("192.0.2.1").ok());
  } while (taken.back().HoldAnswer(50) && ++answers < 100);
  EXPECT_EQ(answers, 15);
  HttpPlaces::Place other(places);
  ASSERT_TRUE(other.Take("192.0.2.2").ok());
  EXPECT_TRUE(other.HoldAnswer(200));
  taken.clear();
  EXPECT_TRUE(other.HoldAnswer(1000));
}

}  // namespace
}  // namespace waystar::rpc
