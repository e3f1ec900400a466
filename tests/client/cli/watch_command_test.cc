#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/client/cli/command_test.h"

namespace waystar::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::waystar::testing::Refusal;

class WatchCommandTest : public ::waystar::testing::CommandTest {
 protected:
  WatchCommandTest() {
    server_.watch_map = [this](auto&, const v1::WatchMapRequest& request,
                               std::vector<v1::WatchMapResponse>& events) {
      request_ = request;
      events.resize(4);
      events[0].mutable_watching()->mutable_version()->set_revision(7);
      v1::MapRevision& first = *events[1].mutable_commit();
      first.mutable_version()->set_revision(8);
      first.set_changed_cells(25);
      first.mutable_changed_bounds()->set_x(3);
      first.mutable_changed_bounds()->set_width(5);
      first.mutable_changed_bounds()->set_height(6);
      first.add_edits()->mutable_block()->add_cells()->set_x(3);
      first.add_edits()->mutable_remove_obstacle()->set_id("fire");
      v1::PutNodes& put = *first.add_edits()->mutable_put_nodes();
      put.add_nodes()->set_id("koln-hbf");
      put.mutable_nodes(0)->set_label("Köln/Hbf");
      put.add_nodes()->set_id("inn");
      events[2].mutable_resynchronize()->mutable_version()->set_revision(20);
      events[3].mutable_commit()->mutable_version()->set_revision(21);
      events[3].mutable_commit()->set_edits_omitted(true);
      return Refusal(grpc::StatusCode::NOT_FOUND, "map \"arena\" has been deleted", "MAP_NOT_FOUND", "map");
    };
  }

  v1::WatchMapRequest request_;
};

TEST_F(WatchCommandTest, TellsOfEveryEventUntilTheEnd) {
  EXPECT_EQ(Run({"watch", "arena", "--from", "8", "--from-epoch", "99", "--edits"}), ExitCode::kRefused);
  EXPECT_EQ(request_.map(), "arena");
  EXPECT_EQ(request_.after().revision(), 7);
  EXPECT_EQ(request_.after().epoch(), 99);
  EXPECT_TRUE(request_.with_edits());
  EXPECT_THAT(out_, AllOf(HasSubstr("Watching arena, which is at revision 7.\nRevision 8 at "),
                          HasSubstr(": 25 cells changed in 3,0+5x6\n  block 3,0\n  remove fire\n  "
                                    "put nodes koln-hbf \"Köln/Hbf\" inn\nRevisions up to 20 "),
                          HasSubstr("Revision 21 at "), HasSubstr(": 0 cells changed\n  (more edits")));
  EXPECT_THAT(err_, HasSubstr("map \"arena\" has been deleted"));
}

TEST_F(WatchCommandTest, EndsAfterSoManyRevisions) {
  EXPECT_EQ(Run({"watch", "arena", "--count", "1"}), ExitCode::kOk);
  EXPECT_FALSE(request_.with_edits());
  EXPECT_FALSE(request_.has_after());
  EXPECT_THAT(out_, ::testing::Not(HasSubstr("Revisions up to")));
}

TEST_F(WatchCommandTest, TellsDigests) {
  server_.watch_map = [](auto&, const auto&, std::vector<v1::WatchMapResponse>& events) {
    events.resize(2);
    events[0].mutable_watching()->mutable_version()->set_revision(7);
    events[0].mutable_watching()->set_digest(0xabcdef);
    events[1].mutable_commit()->mutable_version()->set_revision(8);
    events[1].mutable_commit()->set_digest(0x0123456789abcdef);
    return grpc::Status::OK;
  };
  Run({"watch", "arena"});
  EXPECT_THAT(out_, AllOf(HasSubstr("which is at revision 7. Its digest is 0000000000abcdef.\n"),
                          HasSubstr(": 0 cells changed, digest 0123456789abcdef\n")));
}

TEST_F(WatchCommandTest, CountsPortalsByTheEdits) {
  server_.watch_map = [](auto&, const auto&, std::vector<v1::WatchMapResponse>& events) {
    events.resize(2);
    events[0].mutable_commit()->mutable_version()->set_revision(8);
    events[0].mutable_commit()->add_edits()->mutable_remove_portal()->set_id("stairs");
    events[1].mutable_commit()->mutable_version()->set_revision(9);
    events[1].mutable_commit()->set_changed_cells(3);
    events[1].mutable_commit()->add_edits()->mutable_put_profile();
    events[1].mutable_commit()->add_edits()->mutable_switch_portal()->set_id("stairs");
    return grpc::Status::OK;
  };
  Run({"watch", "arena", "--edits"});
  EXPECT_THAT(
      out_, AllOf(HasSubstr(": 1 portal changed\n"), HasSubstr(": 3 cells, 1 portal, 1 profile changed\n")));
}

TEST_F(WatchCommandTest, PrintsAnObjectALine) {
  EXPECT_EQ(Run({"watch", "arena", "--json", "--count", "1"}), ExitCode::kOk);
  EXPECT_THAT(
      out_, HasSubstr("{\"watching\":{\"version\":{\"epoch\":\"0\",\"revision\":\"7\"},\"digest\":\"0\"}}\n{"
                      "\"commit\":{\"version\":{\"epoch\":\"0\",\"revision\":\"8\"},"));
}

}  // namespace
}  // namespace waystar::cli
