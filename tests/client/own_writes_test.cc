// A client's queries see what it has changed.
#include <cstdint>
#include <string>
#include <vector>

#include "client/client.h"
#include "gmock/gmock.h"
#include "tests/client/fake_server.h"

namespace waystar::client {
namespace {

using ::testing::ElementsAre;

v1::Version VersionAt(std::uint64_t epoch, std::uint64_t revision) {
  v1::Version version;
  version.set_epoch(epoch);
  version.set_revision(revision);
  return version;
}

std::string TextOf(const v1::Version& version) {
  return std::to_string(version.epoch()) + "." + std::to_string(version.revision());
}

TEST(OwnWritesTest, KeepTheLatestOfTheMapsThatWereChangedLast) {
  OwnWrites writes(2);
  writes.Note("arena", VersionAt(7, 3));
  // Answers may come in another order.
  writes.Note("arena", VersionAt(7, 2));
  EXPECT_EQ(writes.Of("arena")->revision(), 3U);
  writes.Note("arena", VersionAt(8, 1));
  EXPECT_EQ(writes.Of("arena")->revision(), 1U);
  writes.Note("yard", VersionAt(9, 5));
  writes.Note("arena", VersionAt(8, 2));
  writes.Note("keep", VersionAt(10, 1));
  EXPECT_FALSE(writes.Of("yard").has_value());
  EXPECT_EQ(writes.Of("arena")->revision(), 2U);
  writes.Forget("arena", 7);
  EXPECT_TRUE(writes.Of("arena").has_value());
  writes.Forget("arena", 8);
  EXPECT_FALSE(writes.Of("arena").has_value());
  writes.Forget("keep");
  writes.Forget("keep");
  EXPECT_FALSE(writes.Of("keep").has_value());
  writes.Note("yard", VersionAt(9, 6));
  EXPECT_EQ(writes.Of("yard")->revision(), 6U);
  OwnWrites none(0);
  none.Note("arena", VersionAt(7, 3));
  EXPECT_FALSE(none.Of("arena").has_value());
}

class OwnWritesOfClientTest : public ::testing::Test {
 protected:
  OwnWritesOfClientTest() {
    server_.create_map = [this](auto&, const auto&, v1::CreateMapResponse& response) {
      *response.mutable_info()->mutable_version() = next_;
      return grpc::Status::OK;
    };
    server_.import_map = [this](auto&, const auto&, v1::ImportMapResponse& response) {
      *response.mutable_info()->mutable_version() = next_;
      return grpc::Status::OK;
    };
    server_.update_map = [this](auto&, const auto&, v1::UpdateMapResponse& response) {
      *response.mutable_version() = next_;
      return grpc::Status::OK;
    };
    server_.delete_map = [](auto&, const auto&, auto&) { return grpc::Status::OK; };
    server_.find_path = [this](auto&, const v1::FindPathRequest& request, auto&) {
      return Take(request.view());
    };
    server_.find_paths = [this](auto&, const v1::FindPathsRequest& request, auto&) {
      return Take(request.view());
    };
  }

  grpc::Status Take(const v1::View& view) {
    asked_.push_back(view.has_least_version() ? TextOf(view.least_version()) : "any");
    if (view.least_version().epoch() == replaced_) {
      return Refusal(grpc::StatusCode::FAILED_PRECONDITION, "another epoch", "MAP_REPLACED",
                     "view.least_version.epoch");
    }
    return grpc::Status::OK;
  }

  Client MakeClient(bool reads_own_writes = true) {
    Options options = server_.ClientOptions();
    options.reads_own_writes = reads_own_writes;
    return Client(options);
  }
  static v1::FindPathRequest QueryOf(const std::string& map) {
    v1::FindPathRequest query;
    query.set_map(map);
    return query;
  }
  void Update(const Client& client, const std::string& map, std::uint64_t epoch, std::uint64_t revision) {
    next_ = VersionAt(epoch, revision);
    v1::UpdateMapRequest update;
    update.set_map(map);
    EXPECT_TRUE(client.UpdateMap(update).ok());
  }

  FakeServer server_;
  v1::Version next_;
  // The epoch that the map has no more; 1 is of none.
  std::uint64_t replaced_ = 1;
  std::vector<std::string> asked_;
};

TEST_F(OwnWritesOfClientTest, QueriesNameTheVersionOfTheLastChange) {
  const Client client = MakeClient();
  EXPECT_TRUE(client.FindPath(QueryOf("arena")).ok());
  next_ = VersionAt(7, 1);
  v1::CreateMapRequest creation;
  creation.set_map("arena");
  EXPECT_TRUE(client.CreateMap(creation).ok());
  EXPECT_TRUE(client.FindPath(QueryOf("arena")).ok());
  Update(client, "arena", 7, 2);
  EXPECT_TRUE(client.FindPath(QueryOf("arena")).ok());
  EXPECT_TRUE(client.FindPath(QueryOf("yard")).ok());
  v1::FindPathsRequest batch;
  batch.set_map("arena");
  EXPECT_TRUE(client.FindPaths(batch).ok());
  next_ = VersionAt(9, 1);
  v1::ImportMapHeader header;
  header.set_map("yard");
  EXPECT_TRUE(client.ImportMap(header, "bytes").ok());
  EXPECT_TRUE(client.FindPath(QueryOf("yard")).ok());
  EXPECT_THAT(asked_, ElementsAre("any", "7.1", "7.2", "any", "7.2", "9.1"));
}

TEST_F(OwnWritesOfClientTest, ChangesOfOthersAreNotedAndQueriesMaySayOtherwise) {
  const Client client = MakeClient();
  client.NoteChange("arena", VersionAt(7, 5));
  v1::FindPathRequest query = QueryOf("arena");
  EXPECT_TRUE(client.FindPath(query).ok());
  *query.mutable_view()->mutable_least_version() = VersionAt(7, 3);
  EXPECT_TRUE(client.FindPath(query).ok());
  query.mutable_view()->mutable_least_version()->Clear();
  EXPECT_TRUE(client.FindPath(query).ok());
  EXPECT_THAT(asked_, ElementsAre("7.5", "7.3", "0.0"));
}

TEST_F(OwnWritesOfClientTest, MapsThatAreReplacedOrDeletedAreForgotten) {
  const Client client = MakeClient();
  Update(client, "arena", 7, 5);
  replaced_ = 7;
  EXPECT_TRUE(client.FindPath(QueryOf("arena")).ok());
  EXPECT_TRUE(client.FindPath(QueryOf("arena")).ok());
  EXPECT_THAT(asked_, ElementsAre("7.5", "any", "any"));
  // What the caller has named is the caller's concern.
  v1::FindPathRequest query = QueryOf("arena");
  *query.mutable_view()->mutable_least_version() = VersionAt(7, 3);
  EXPECT_EQ(ReasonOf(client.FindPath(query).status()), "MAP_REPLACED");
  Update(client, "arena", 8, 2);
  v1::DeleteMapRequest removal;
  removal.set_map("arena");
  EXPECT_TRUE(client.DeleteMap(removal).ok());
  asked_.clear();
  EXPECT_TRUE(client.FindPath(QueryOf("arena")).ok());
  EXPECT_THAT(asked_, ElementsAre("any"));
}

// A server that names no epochs has none to wait for.
TEST_F(OwnWritesOfClientTest, NothingIsNamedWithoutAnEpochOrIfTurnedOff) {
  const Client client = MakeClient();
  Update(client, "arena", 0, 5);
  EXPECT_TRUE(client.FindPath(QueryOf("arena")).ok());
  const Client careless = MakeClient(false);
  Update(careless, "arena", 7, 5);
  EXPECT_TRUE(careless.FindPath(QueryOf("arena")).ok());
  EXPECT_THAT(asked_, ElementsAre("any", "any"));
}

}  // namespace
}  // namespace waystar::client
