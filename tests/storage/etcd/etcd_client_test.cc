#include "server/storage/etcd/etcd_client.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/base/mutex.h"
#include "tests/storage/etcd/etcd_process.h"
#include "tests/testing/patience.h"
#include "tests/testing/random.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::etcd {
namespace {

using ::testing::ElementsAre;

MATCHER_P(FailsAs, failure, "") {
  *result_listener << waystar::AsStatus(arg).ToString();
  return FailureOf(waystar::AsStatus(arg)) == failure;
}

using EtcdClientTest = waystar::EtcdTest;
using EtcdMemberTest = waystar::OneMemberTest;

// Puts the value if the key was changed last at that revision, and else reads it.
Txn PutIf(const std::string& key, std::int64_t mod_revision, const std::string& value) {
  return {.compares = {{.key = key, .number = mod_revision}},
          .then = {Put{key, value}},
          .otherwise = {RangeQuery{.key = key}}};
}

Txn PutAlways(const std::string& key, const std::string& value) { return {.then = {Put{key, value}}}; }

TEST(EtcdAddressTest, HasHostsPortsAndAPrefix) {
  const auto address = ParseAddress("etcd://one.example:2379,10.0.0.2:4001/team/maps").value();
  EXPECT_THAT(address.endpoints, ElementsAre(Endpoint{"one.example", 2379}, Endpoint{"10.0.0.2", 4001}));
  EXPECT_EQ(address.prefix, "/team/maps/");
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
  const auto address = ParseAddress("etcd://[::1],[fd00::2]:4001").value();
  EXPECT_THAT(address.endpoints, ElementsAre(Endpoint{"::1", 2379}, Endpoint{"fd00::2", 4001}));
  EXPECT_EQ(TextOf(address.endpoints[0]), "[::1]:2379");
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

TEST(EtcdPrefixTest, EndsBeforeTheNextKey) {
  EXPECT_EQ(EndOfPrefix("/maps/"), "/maps0");
  EXPECT_EQ(EndOfPrefix("a\xff\xff"), "b");
  EXPECT_EQ(EndOfPrefix("\xff"), std::string(1, '\0'));
}

TEST_F(EtcdMemberTest, CommitsWhatIsCompared) {
  const auto created = client_->Commit(PutIf("k", 0, "one")).value();
  EXPECT_TRUE(created.succeeded);
  EXPECT_EQ(created.results.size(), 1U);

  const auto conflict = client_->Commit(PutIf("k", 0, "two")).value();
  EXPECT_FALSE(conflict.succeeded);
  ASSERT_EQ(conflict.results.size(), 1U);
  const KeyValue first{.key = "k", .value = "one", .mod_revision = created.revision};
  EXPECT_THAT(conflict.results[0].entries, ElementsAre(first));

  const auto replaced = client_->Commit(PutIf("k", created.revision, "two")).value();
  EXPECT_TRUE(replaced.succeeded);
  EXPECT_EQ(replaced.revision, created.revision + 1);

  const auto now = client_->Range({.key = "k"}).value();
  EXPECT_EQ(now.revision, replaced.revision);
  const KeyValue second{.key = "k", .value = "two", .mod_revision = replaced.revision};
  EXPECT_THAT(now.entries, ElementsAre(second));
  const auto before = client_->Range({.key = "k", .revision = created.revision}).value();
  EXPECT_THAT(before.entries, ElementsAre(first));
}

TEST_F(EtcdMemberTest, ComparesEachProperty) {
  const std::int64_t created = client_->Commit(PutAlways("k", "m"))->revision;
  const std::int64_t changed = client_->Commit(PutAlways("k", "n"))->revision;
  const auto holds = [&](Compare::Target target, Compare::Relation relation, std::int64_t number) {
    const auto result = client_->Commit({.compares = {{"k", target, relation, number}}});
    EXPECT_THAT(result, IsOk());
    return result.ok() && result->succeeded;
  };
  using Target = Compare::Target;
  using Relation = Compare::Relation;
  EXPECT_TRUE(holds(Target::kCreateRevision, Relation::kEqual, created));
  EXPECT_FALSE(holds(Target::kCreateRevision, Relation::kGreater, created));
  EXPECT_TRUE(holds(Target::kModRevision, Relation::kEqual, changed));
  EXPECT_TRUE(holds(Target::kModRevision, Relation::kLess, changed + 1));
}

TEST_F(EtcdMemberTest, DeletesRanges) {
  ASSERT_THAT(client_->Commit({.then = {Put{"/a/1", ""}, Put{"/a/2", ""}, Put{"/b", ""}}}), IsOk());
  const auto deleted =
      client_->Commit({.then = {Delete{"/a/", EndOfPrefix("/a/")}, Delete{"/c", ""}}}).value();
  ASSERT_EQ(deleted.results.size(), 2U);
  EXPECT_EQ(deleted.results[0].deleted, 2);
  EXPECT_EQ(deleted.results[1].deleted, 0);
  const auto rest = client_->Range({.key = "/", .range_end = EndOfPrefix("/"), .keys_only = true}).value();
  ASSERT_EQ(rest.entries.size(), 1U);
  EXPECT_EQ(rest.entries[0].key, "/b");
}

// Each transaction puts the same number under all keys, so one revision has one number.
TEST_F(EtcdMemberTest, ReadsPagesAsOfOneRevisionWhileOthersWrite) {
  const auto put_all = [&](int number) {
    Txn txn;
    for (int i = 0; i < 20; ++i) {
      txn.then.emplace_back(Put{absl::StrCat("/p/", i), absl::StrCat(number)});
    }
    return client_->Commit(txn);
  };
  ASSERT_THAT(put_all(0), IsOk());
  int number = 0;
  for (const std::int64_t limit : {1, 3, 7, 20, 1000}) {
    std::set<std::string> keys;
    std::set<std::string> numbers;
    const auto revision =
        client_->ReadPages({.key = "/p/", .range_end = "/p0", .limit = limit}, [&](const KeyValue& entry) {
          EXPECT_TRUE(keys.empty() || *keys.rbegin() < entry.key);
          keys.insert(entry.key);
          numbers.insert(entry.value);
          EXPECT_THAT(put_all(++number), IsOk());
          return absl::OkStatus();
        });
    ASSERT_THAT(revision, IsOk());
    EXPECT_EQ(keys.size(), 20U);
    EXPECT_EQ(numbers.size(), 1U);
  }
  const auto nothing =
      client_->ReadPages({.key = "/q/", .range_end = "/q0", .limit = 10},
                         [](const KeyValue& /*entry*/) { return absl::InternalError("there is no entry"); });
  EXPECT_THAT(nothing, IsOk());
  const auto ended =
      client_->ReadPages({.key = "/p/", .range_end = "/p0", .limit = 10},
                         [](const KeyValue& /*entry*/) { return absl::AbortedError("enough"); });
  EXPECT_EQ(ended.status(), absl::AbortedError("enough"));
}

TEST_F(EtcdMemberTest, TellsWhatIsCompactedAndWhatIsNotYet) {
  const std::int64_t first = client_->Commit(PutAlways("k", "1"))->revision;
  const std::int64_t second = client_->Commit(PutAlways("k", "2"))->revision;
  EXPECT_THAT(client_->Compact(second), IsOk());
  EXPECT_THAT(client_->Compact(second), IsOk());
  EXPECT_THAT(client_->Range({.key = "k", .revision = first}), FailsAs(Failure::kCompacted));
  EXPECT_THAT(client_->Range({.key = "k", .revision = second}), IsOk());
  EXPECT_THAT(client_->Range({.key = "k", .revision = second + 1}), FailsAs(Failure::kFutureRevision));
  EXPECT_THAT(client_->Compact(second + 1), FailsAs(Failure::kFutureRevision));
}

TEST_F(EtcdMemberTest, TellsRefusalsApart) {
  const std::string limit(std::size_t{3} << 19, 'x');
  for (const std::string& value : {limit, limit + limit}) {
    EXPECT_THAT(client_->Commit(PutAlways("k", value)),
                IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kRequestTooLarge, ""));
  }
  EXPECT_THAT(client_->Commit(PutAlways("", "value")), FailsAs(Failure::kRefused));
  EXPECT_THAT(client_->Commit({.then = {Put{"k", "1"}, Put{"k", "2"}}}), FailsAs(Failure::kRefused));
  Txn many;
  for (int i = 0; i < 129; ++i) {
    many.then.emplace_back(Put{absl::StrCat(i), ""});
  }
  EXPECT_THAT(client_->Commit(many), FailsAs(Failure::kRefused));
  EXPECT_EQ(client_->Range({.key = "k"})->revision, 1);
}

TEST_F(EtcdMemberTest, KeysGoWithTheirLease) {
  const auto has = [&](const std::string& key) {
    const absl::StatusOr<RangeResult> read = client_->Range({.key = key});
    EXPECT_THAT(read, IsOk());
    return read.ok() && !read->entries.empty();
  };
  const absl::StatusOr<std::int64_t> kept = client_->GrantLease(absl::Minutes(5));
  const absl::StatusOr<std::int64_t> left = client_->GrantLease(absl::Seconds(1));
  ASSERT_THAT(kept, IsOk());
  ASSERT_THAT(left, IsOk());
  const auto put = [](const std::string& key, std::int64_t lease) {
    return Txn{.then = {Put{.key = key, .value = "", .lease = lease}}};
  };
  ASSERT_THAT(client_->Commit(put("kept", *kept)), IsOk());
  ASSERT_THAT(client_->Commit(put("left", *left)), IsOk());
  waystar::WaitUntil([&] { return !has("left"); }, "the end of a lease");
  EXPECT_EQ(client_->KeepLease(*left).value_or(true), false);
  EXPECT_THAT(client_->Commit(put("left", *left)), FailsAs(Failure::kRefused));
  EXPECT_EQ(client_->KeepLease(*kept).value_or(false), true);
  EXPECT_TRUE(has("kept"));
  EXPECT_THAT(client_->RevokeLease(*kept), IsOk());
  EXPECT_FALSE(has("kept"));
}

TEST_F(EtcdMemberTest, AnswersTransactionsThatArePipelined) {
  const auto count = static_cast<int>(Rounds(400));
  Mutex mutex;
  CondVar changed;
  int answers = 0;
  std::set<std::int64_t> revisions;
  for (int i = 0; i < count; ++i) {
    client_->Commit(PutAlways(absl::StrCat(i), "v"), [&](const absl::StatusOr<TxnResult>& result) {
      MutexLock lock(mutex);
      EXPECT_THAT(result, IsOk());
      revisions.insert(result.ok() ? result->revision : -1);
      ++answers;
      changed.NotifyAll();
    });
  }
  const waystar::Patience patience("answers");
  MutexLock lock(mutex);
  while (answers < count && patience.Wait(changed, mutex)) {
  }
  EXPECT_EQ(revisions.size(), static_cast<std::size_t>(count));
}

TEST_F(EtcdClientTest, IsCertainThatNothingWasSentToNobody) {
  ClientOptions options;
  {
    const EtcdCluster cluster(1);
    options = cluster.Options();
  }
  options.call_timeout = absl::Milliseconds(200);
  const auto client = OpenClient(options);
  EXPECT_THAT(client->Commit(PutAlways("k", "v")), FailsAs(Failure::kUnreachable));
  EXPECT_THAT(client->Range({.key = "k"}),
              IsError(absl::StatusCode::kUnavailable, ErrorReason::kStorageFailed, ""));
}

TEST_F(EtcdClientTest, TellsThatAnOutcomeIsUnknown) {
  EtcdCluster cluster(1);
  ClientOptions options = cluster.Options();
  options.call_timeout = absl::Milliseconds(500);
  const auto client = OpenClient(options);
  ASSERT_THAT(client->Commit(PutAlways("before", "")), IsOk());
  cluster.Freeze(0);
  // It is sent, and nobody answers until the member goes on, and then nobody listens.
  const auto frozen = client->Commit(PutAlways("frozen", ""));
  EXPECT_THAT(frozen, FailsAs(Failure::kUnknownOutcome));
  EXPECT_THAT(frozen, IsError(absl::StatusCode::kUnavailable, ErrorReason::kStorageFailed, ""));
  cluster.Thaw(0);
  EXPECT_TRUE(waystar::WaitUntil([&] { return client->Range({.key = "before"}).ok(); }, "etcd"));
}

TEST_F(EtcdMemberTest, TellsThatAnOutcomeIsUnknownWhenTheMemberDies) {
  ASSERT_THAT(client_->Commit(PutAlways("before", "")), IsOk());
  etcd_->Freeze(0);
  waystar::Event answered("an answer");
  absl::Status status;
  client_->Commit(PutAlways("frozen", ""), [&](const absl::StatusOr<TxnResult>& result) {
    status = result.status();
    answered.Happen();
  });
  etcd_->Kill(0);
  ASSERT_TRUE(answered.Wait());
  EXPECT_THAT(status, FailsAs(Failure::kUnknownOutcome));
}

TEST_F(EtcdMemberTest, EndsWhatRunsWhenItIsClosed) {
  ASSERT_THAT(client_->Commit(PutAlways("before", "")), IsOk());
  etcd_->Freeze(0);
  std::vector<absl::Status> statuses(3);
  for (absl::Status& status : statuses) {
    client_->Commit(PutAlways("frozen", ""),
                    [&status](const absl::StatusOr<TxnResult>& result) { status = result.status(); });
  }
  client_.reset();
  for (const absl::Status& status : statuses) {
    EXPECT_THAT(status, FailsAs(Failure::kUnknownOutcome));
  }
}

TEST_F(EtcdClientTest, ReadsFromAnotherMemberThanOneThatHangs) {
  EtcdCluster cluster(3);
  const auto client = cluster.NewClient();
  ASSERT_THAT(client->Commit(PutAlways("k", "v")), IsOk());
  for (int i = 0; i < cluster.size(); ++i) {
    cluster.Freeze(i);
    const auto read = client->Range({.key = "k"}).value();
    EXPECT_EQ(read.entries.size(), 1U);
    cluster.Thaw(i);
  }
}

TEST_F(EtcdClientTest, RefusesAtOnceWithoutALeader) {
  EtcdCluster cluster(3);
  ClientOptions options = cluster.OptionsOf(0);
  options.call_timeout = absl::Seconds(1);
  const auto client = OpenClient(options);
  ASSERT_THAT(client->Commit(PutAlways("k", "v")), IsOk());
  cluster.Kill(1);
  cluster.Kill(2);
  // Until the member notices.
  EXPECT_TRUE(waystar::WaitUntil(
      [&] { return FailureOf(client->Commit(PutAlways("k", "v")).status()) == Failure::kNoLeader; },
      "a refusal"));
}

}  // namespace
}  // namespace waystar::etcd
