// A member of etcd that is told nothing new, though it looks well. Real ones get there when their leader does
// not hear them.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "server/base/mutex.h"
#include "server/storage/etcd/etcd.grpc.pb.h"
#include "server/storage/etcd/etcd_client.h"
#include "server/storage/etcd/etcd_watch.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"

namespace waystar::etcd {
namespace {

using ::testing::Each;
using waystar::testing::Event;
using waystar::testing::IsOk;

constexpr std::int64_t kLatest = 100;

// Reads are answered by the leader, as those of etcd are; a watch tells of this member's own state. The first
// watches fail, if any are to. If there is a late event, of the member's revision, the first progress comes
// before it.
class Member final : public etcdserverpb::KV::Service, public etcdserverpb::Watch::Service {
 public:
  explicit Member(std::int64_t revision, int failures = 0, bool has_late_event = false)
      : revision_(revision), failures_(failures), has_late_event_(has_late_event) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(static_cast<etcdserverpb::KV::Service*>(this));
    builder.RegisterService(static_cast<etcdserverpb::Watch::Service*>(this));
    server_ = builder.BuildAndStart();
  }

  int watches() const { return watches_; }
  Endpoint endpoint() const { return {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port_)}; }

  grpc::Status Range(grpc::ServerContext* /*context*/, const etcdserverpb::RangeRequest* /*request*/,
                     etcdserverpb::RangeResponse* response) override {
    response->mutable_header()->set_revision(kLatest);
    return grpc::Status::OK;
  }
  grpc::Status Watch(
      grpc::ServerContext* /*context*/,
      grpc::ServerReaderWriter<etcdserverpb::WatchResponse, etcdserverpb::WatchRequest>* stream) override {
    if (watches_++ < failures_) {
      return {grpc::StatusCode::UNAVAILABLE, "not yet"};
    }
    etcdserverpb::WatchRequest request;
    for (int requests = 0; stream->Read(&request); ++requests) {
      if (requests == 2 && has_late_event_) {
        etcdserverpb::WatchResponse late;
        late.mutable_header()->set_revision(revision_);
        late.add_events()->mutable_kv()->set_mod_revision(revision_);
        stream->Write(late);
      }
      etcdserverpb::WatchResponse response;
      response.mutable_header()->set_revision(revision_);
      response.set_created(request.has_create_request());
      stream->Write(response);
    }
    return grpc::Status::OK;
  }

 private:
  const std::int64_t revision_;
  const int failures_;
  const bool has_late_event_;
  std::atomic<int> watches_ = 0;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

TEST(EtcdStaleMemberTest, IsLeftAndItsProgressDoesNotCount) {
  const Member stale(5);
  // So that the watch comes to the stale one, wherever it begins.
  const Member other(kLatest, 1);
  const auto client = Client::Open({.endpoints = {stale.endpoint(), other.endpoint()}});
  ASSERT_THAT(client, IsOk());
  waystar::testing::WaitUntil([&] { return (*client)->Range({.key = "/"}).ok(); }, "a member");
  Mutex mutex;
  std::vector<std::int64_t> told;
  Event is_told("progress");
  WatchCallbacks callbacks;
  callbacks.on_progress = [&](std::int64_t revision) {
    MutexLock lock(mutex);
    told.push_back(revision);
    is_told.Happen();
  };
  const Watch watch(**client, "/", 1, callbacks, {.quiet_timeout = absl::Milliseconds(200)});
  ASSERT_TRUE(is_told.Wait());
  MutexLock lock(mutex);
  EXPECT_THAT(told, Each(kLatest));
  EXPECT_GT(stale.watches(), 0);
}

// Before 3.4.25 and 3.5.8, etcd tells its progress past events that are still on their way.
TEST(EtcdProgressTest, DoesNotCountBeforeTheEventsUpToIt) {
  const Member member(kLatest, 0, true);
  const auto client = Client::Open({.endpoints = {member.endpoint()}});
  ASSERT_THAT(client, IsOk());
  Mutex mutex;
  std::vector<std::string> told;
  Event is_told("progress");
  WatchCallbacks callbacks;
  callbacks.on_events = [&](std::int64_t revision, const std::vector<WatchEvent>& /*events*/) {
    MutexLock lock(mutex);
    told.push_back(absl::StrCat("event ", revision));
  };
  callbacks.on_progress = [&](std::int64_t revision) {
    MutexLock lock(mutex);
    told.push_back(absl::StrCat("progress ", revision));
    is_told.Happen();
  };
  const Watch watch(**client, "/", 1, callbacks, {.progress_interval = absl::Milliseconds(1)});
  ASSERT_TRUE(is_told.Wait());
  MutexLock lock(mutex);
  ASSERT_GE(told.size(), 2U);
  EXPECT_EQ(told[0], "event 100");
  EXPECT_EQ(told[1], "progress 100");
}

}  // namespace
}  // namespace waystar::etcd
