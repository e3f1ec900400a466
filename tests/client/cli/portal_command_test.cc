#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/client/cli/command_test.h"

namespace waystar::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PortalCommandTest : public ::waystar::testing::CommandTest {
 protected:
  PortalCommandTest() {
    server_.update_obstacles = [this](auto&, const v1::UpdateObstaclesRequest& request,
                                      v1::UpdateObstaclesResponse& response) {
      request_ = request;
      response.mutable_version()->set_revision(8);
      return grpc::Status::OK;
    };
  }

  v1::UpdateObstaclesRequest request_;
};

TEST_F(PortalCommandTest, Puts) {
  EXPECT_EQ(Run({"portal", "put", "arena", "stairs", "12,4", "2,2", "--to-map", "cellar", "--cost", "1.5",
                 "--tag", "dry", "--closed", "--replace"}),
            ExitCode::kOk)
      << err_;
  EXPECT_EQ(request_.map(), "arena");
  ASSERT_EQ(request_.edits_size(), 1);
  const v1::PutPortal& put = request_.edits(0).put_portal();
  EXPECT_EQ(put.portal().id(), "stairs");
  EXPECT_EQ(put.portal().from().x(), 12);
  EXPECT_EQ(put.portal().to().y(), 2);
  EXPECT_EQ(put.portal().to_map(), "cellar");
  EXPECT_EQ(put.portal().cost(), 1.5);
  EXPECT_THAT(put.portal().tags(), ElementsAre("dry"));
  EXPECT_TRUE(put.portal().closed());
  EXPECT_FALSE(put.portal().both_ways());
  EXPECT_TRUE(put.replace());
  EXPECT_EQ(out_, "arena is now at revision 8: 1 portal changed.\n");
}

TEST_F(PortalCommandTest, OpensClosesAndRemovesSeveral) {
  EXPECT_EQ(Run({"portal", "close", "arena", "a", "b"}), ExitCode::kOk) << err_;
  ASSERT_EQ(request_.edits_size(), 2);
  EXPECT_EQ(request_.edits(1).switch_portal().id(), "b");
  EXPECT_TRUE(request_.edits(1).switch_portal().closed());
  EXPECT_EQ(out_, "arena is now at revision 8: 2 portals changed.\n");
  EXPECT_EQ(Run({"portal", "open", "arena", "a"}), ExitCode::kOk) << err_;
  EXPECT_FALSE(request_.edits(0).switch_portal().closed());
  EXPECT_EQ(Run({"portal", "remove", "arena", "a"}), ExitCode::kOk) << err_;
  EXPECT_EQ(request_.edits(0).remove_portal().id(), "a");
}

TEST_F(PortalCommandTest, Lists) {
  server_.list_portals = [](auto&, const v1::ListPortalsRequest& request, v1::ListPortalsResponse& response) {
    EXPECT_EQ(request.map(), "arena");
    v1::Portal& portal = *response.add_portals();
    portal.set_id("stairs");
    portal.mutable_from()->set_x(12);
    portal.mutable_to();
    portal.set_to_map("cellar");
    portal.add_tags("dry");
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"portal", "list", "arena"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, HasSubstr("stairs  12,0  0,0 of cellar  0     one   open   dry"));
}

TEST_F(PortalCommandTest, PutsAndListsPortalsOfMeshes) {
  EXPECT_EQ(Run({"portal", "put", "keep", "jump", "2,10", "6,10.5,3"}), ExitCode::kOk) << err_;
  const v1::Portal& portal = request_.edits(0).put_portal().portal();
  EXPECT_FALSE(portal.has_from());
  EXPECT_FALSE(portal.has_to());
  EXPECT_EQ(portal.from_position().y(), 10);
  EXPECT_EQ(portal.to_position().z(), 3);
  EXPECT_EQ(Run({"portal", "put", "keep", "jump", "2,10,0", "6,10"}), ExitCode::kOk) << err_;
  EXPECT_EQ(request_.edits(0).put_portal().portal().to_position().x(), 6);
  EXPECT_EQ(Run({"portal", "put", "keep", "jump", "gate", "6,10"}), ExitCode::kUsage);

  server_.list_portals = [&](auto&, const v1::ListPortalsRequest&, v1::ListPortalsResponse& response) {
    *response.add_portals() = request_.edits(0).put_portal().portal();
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"portal", "list", "keep"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, HasSubstr("jump    2,10  6,10  0     one   open   -"));
}

}  // namespace
}  // namespace waystar::cli
