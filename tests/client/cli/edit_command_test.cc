#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/client/cli/command_test.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;
using ::waystar::testing::Refusal;

class EditCommandTest : public ::waystar::testing::CommandTest {
 protected:
  EditCommandTest() {
    server_.update_obstacles = [this](auto&, const v1::UpdateObstaclesRequest& request,
                                      v1::UpdateObstaclesResponse& response) {
      request_ = request;
      response.mutable_version()->set_revision(8);
      response.set_changed_cells(25);
      response.set_clipped_cells(clipped_cells_);
      response.set_digest(digest_);
      return grpc::Status::OK;
    };
  }

  int clipped_cells_ = 0;
  std::uint64_t digest_ = 0;
  v1::UpdateObstaclesRequest request_;
};

TEST_F(EditCommandTest, BlocksAllShapesInOneEdit) {
  EXPECT_EQ(Run({"block", "arena", "3,4", "-1,-1", "3,4..6,9", "1,2+3x4"}), ExitCode::kOk);
  EXPECT_EQ(request_.map(), "arena");
  EXPECT_EQ(request_.expected_version().revision(), 0);
  ASSERT_EQ(request_.edits_size(), 1);
  const v1::Shape& shape = request_.edits(0).block();
  EXPECT_EQ(shape.cells_size(), 2);
  EXPECT_EQ(shape.cells(1).x(), -1);
  EXPECT_EQ(shape.rectangles_size(), 2);
  EXPECT_EQ(shape.rectangles(0).width(), 4);
  EXPECT_EQ(shape.rectangles(1).height(), 4);
  EXPECT_EQ(out_, "arena is now at revision 8: 25 cells changed.\n");
}

TEST_F(EditCommandTest, Unblocks) {
  EXPECT_EQ(Run({"unblock", "arena", "3,4"}), ExitCode::kOk);
  ASSERT_EQ(request_.edits_size(), 1);
  EXPECT_EQ(request_.edits(0).unblock().cells_size(), 1);
}

TEST_F(EditCommandTest, TellsWhatWasLeftOut) {
  clipped_cells_ = 1;
  Run({"block", "arena", "3,4+5x5"});
  EXPECT_EQ(out_, "arena is now at revision 8: 25 cells changed, 1 cell off the map left out.\n");
}

TEST_F(EditCommandTest, TellsTheDigest) {
  digest_ = 0xabcdef;
  Run({"block", "arena", "3,4+5x5"});
  EXPECT_EQ(out_, "arena is now at revision 8: 25 cells changed, digest 0000000000abcdef.\n");
}

TEST_F(EditCommandTest, PassesTheExpectedRevision) {
  EXPECT_EQ(Run({"block", "arena", "3,4", "--expect-revision", "7", "--expect-epoch", "5"}), ExitCode::kOk);
  EXPECT_EQ(request_.expected_version().revision(), 7);
  EXPECT_EQ(request_.expected_version().epoch(), 5);
  // Of the epoch that the map has now.
  server_.get_map = [](auto&, const v1::GetMapRequest&, v1::GetMapResponse& response) {
    response.mutable_info()->mutable_version()->set_epoch(9);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"block", "arena", "3,4", "--expect-revision", "7"}), ExitCode::kOk);
  EXPECT_EQ(request_.expected_version().revision(), 7);
  EXPECT_EQ(request_.expected_version().epoch(), 9);
}

TEST_F(EditCommandTest, AStaleRevisionIsARefusal) {
  server_.update_obstacles = [](auto&, const auto&, auto&) {
    return Refusal(grpc::StatusCode::ABORTED, "the latest revision is 9", "STALE_REVISION",
                   "expected_version");
  };
  EXPECT_EQ(Run({"block", "arena", "3,4", "--expect-revision", "7", "--expect-epoch", "5"}),
            ExitCode::kRefused);
  EXPECT_THAT(err_, HasSubstr("the latest revision is 9 (expected_version)\n"));
}

TEST_F(EditCommandTest, AMalformedShapeSendsNothing) {
  EXPECT_EQ(Run({"block", "arena", "3,4", "5"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("'5' is neither a cell such as 3,4 nor a rectangle"));
  EXPECT_EQ(request_.edits_size(), 0);
}

TEST_F(EditCommandTest, TakesEveryKindOfShape) {
  EXPECT_EQ(Run({"block", "arena", "disc:10,4,2.5", "polygon:0,0..8,0..4,6", "line:0,0..9,4,2"}),
            ExitCode::kOk);
  const v1::Shape& shape = request_.edits(0).block();
  EXPECT_EQ(shape.discs_size(), 1);
  EXPECT_EQ(shape.polygons_size(), 1);
  EXPECT_EQ(shape.lines_size(), 1);
}

TEST_F(EditCommandTest, SetsTerrain) {
  EXPECT_EQ(Run({"terrain", "arena", "~", "3,4..6,9"}), ExitCode::kOk);
  ASSERT_EQ(request_.edits_size(), 1);
  EXPECT_EQ(request_.edits(0).set_terrain().terrain(), "~");
  EXPECT_EQ(request_.edits(0).set_terrain().shape().rectangles_size(), 1);
}

TEST_F(EditCommandTest, ARepetitionIsToldAsSuch) {
  server_.update_obstacles = [this](auto&, const v1::UpdateObstaclesRequest& request,
                                    v1::UpdateObstaclesResponse& response) {
    request_ = request;
    response.mutable_version()->set_revision(5);
    response.set_already_applied(true);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"block", "arena", "3,4", "--request-id", "a-b-c"}), ExitCode::kOk);
  EXPECT_EQ(request_.request_id(), "a-b-c");
  EXPECT_EQ(out_, "That was applied already: it made revision 5 of arena.\n");
}

TEST_F(EditCommandTest, PrintsJson) {
  EXPECT_EQ(Run({"block", "arena", "3,4", "--json"}), ExitCode::kOk);
  EXPECT_EQ(out_,
            "{\"version\":{\"epoch\":\"0\",\"revision\":\"8\"},\"changedCells\":\"25\",\"clippedCells\":"
            "\"0\",\"alreadyApplied\":false,"
            "\"changedNodes\":\"0\",\"changedEdges\":\"0\",\"digest\":\"0\"}\n");
}

}  // namespace
}  // namespace waystar::cli
