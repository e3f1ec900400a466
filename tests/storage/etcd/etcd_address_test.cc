#include "server/storage/etcd/etcd_address.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::etcd {
namespace {

using ::testing::ElementsAre;
using waystar::testing::IsError;
using waystar::testing::IsOk;
using waystar::testing::kInvalid;

TEST(EtcdAddressTest, HasHostsPortsAndAPrefix) {
  const auto address = ParseAddress("etcd://one.example:2379,10.0.0.2:4001/team/maps");
  ASSERT_THAT(address, IsOk());
  EXPECT_THAT(address->endpoints, ElementsAre(Endpoint{"one.example", 2379}, Endpoint{"10.0.0.2", 4001}));
  EXPECT_EQ(address->prefix, "/team/maps/");
}

TEST(EtcdAddressTest, HasDefaults) {
  for (const char* text :
       {"etcd://host", "etcd://host/", "etcd://host:2379/waystar", "etcd://host/waystar/"}) {
    const auto address = ParseAddress(text);
    ASSERT_THAT(address, IsOk()) << text;
    EXPECT_EQ(*address, (Address{{{"host", 2379}}, "/waystar/"})) << text;
  }
}

TEST(EtcdAddressTest, HasIp6AddressesInBrackets) {
  const auto address = ParseAddress("etcd://[::1],[fd00::2]:4001");
  ASSERT_THAT(address, IsOk());
  EXPECT_THAT(address->endpoints, ElementsAre(Endpoint{"::1", 2379}, Endpoint{"fd00::2", 4001}));
  EXPECT_EQ(TextOf(address->endpoints[0]), "[::1]:2379");
  EXPECT_EQ(TextOf({"host", 4001}), "host:4001");
}

TEST(EtcdAddressTest, NamesTheFaultyPart) {
  struct Case {
    std::string text;
    std::string field;
  };
  const std::vector<Case> cases = {
      {"", "scheme"},
      {"host:2379", "scheme"},
      {"http://host:2379", "scheme"},
      {"etcd://", "hosts"},
      {"etcd:///prefix", "hosts"},
      {"etcd://me:secret@host", "hosts"},
      {"etcd://,host", "hosts[0]"},
      {"etcd://host,", "hosts[1]"},
      {"etcd://host,:2379", "hosts[1]"},
      {"etcd://host,host:2379", "hosts[1]"},
      {"etcd://host:", "hosts[0]"},
      {"etcd://host:0", "hosts[0]"},
      {"etcd://host:65536", "hosts[0]"},
      {"etcd://host:http", "hosts[0]"},
      {"etcd://host name", "hosts[0]"},
      {"etcd://::1", "hosts[0]"},
      {"etcd://[::1", "hosts[0]"},
      {"etcd://[host]", "hosts[0]"},
      {"etcd://[::1]2379", "hosts[0]"},
      {"etcd://host//maps", "prefix"},
      {"etcd://host/maps//", "prefix"},
      {"etcd://host/a/../b", "prefix"},
      {"etcd://host/a b", "prefix"},
      {"etcd://host/a?tls=yes", "prefix"},
      {absl::StrCat("etcd://host/", std::string(kMaxPrefixBytes - 1, 'a')), "prefix"},
  };
  for (const Case& each : cases) {
    EXPECT_THAT(ParseAddress(each.text), IsError(kInvalid, ErrorReason::kBadValue, each.field)) << each.text;
  }
}

TEST(EtcdAddressTest, TakesALongestPrefix) {
  EXPECT_THAT(ParseAddress(absl::StrCat("etcd://host/", std::string(kMaxPrefixBytes - 2, 'a'))), IsOk());
}

}  // namespace
}  // namespace waystar::etcd
