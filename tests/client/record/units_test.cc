#include "client/record/units.h"

#include <string>

#include "client/record/methods.h"
#include "gmock/gmock.h"
#include "google/rpc/error_details.pb.h"
#include "tests/testing/own_folder.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::record {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class UnitsTest : public ::testing::Test {
 protected:
  // Of one FindPath on the map "m" that ended so.
  Units Read(const google::rpc::Status& end) {
    auto writer = RecordingWriter::Create(path_, {});
    EXPECT_TRUE(writer.ok());
    v1::RecordedEvent event;
    event.set_call(1);
    event.set_method(kFindPath);
    (*writer)->Write(event);
    v1::FindPathRequest request;
    request.set_map("m");
    event.set_request(request.SerializeAsString());
    (*writer)->Write(event);
    *event.mutable_end() = end;
    (*writer)->Write(event);
    EXPECT_TRUE((*writer)->Close().ok());
    const auto reader = RecordingReader::Open(path_);
    EXPECT_TRUE(reader.ok()) << reader.status();
    auto units = ReadUnits(**reader);
    EXPECT_TRUE(units.ok()) << units.status();
    return *std::move(units);
  }

  const ::waystar::testing::OwnFolder folder_;
  const std::string path_ = folder_.PathOf("units.rec");
};

google::rpc::Status EndedWith(absl::StatusCode code) {
  google::rpc::Status status;
  status.set_code(static_cast<int>(code));
  return status;
}

TEST_F(UnitsTest, KnowTheirMap) {
  const Units units = Read(EndedWith(absl::StatusCode::kNotFound));
  EXPECT_THAT(units.left_out, IsEmpty());
  ASSERT_THAT(units.units, SizeIs(1));
  EXPECT_EQ(units.units[0].map, "m");
  EXPECT_FALSE(units.units[0].is_update);
}

TEST_F(UnitsTest, LeaveOutWhatMayEndOtherwiseAnotherTime) {
  google::rpc::Status busy = EndedWith(absl::StatusCode::kResourceExhausted);
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_nanos(1'000'000);
  static_cast<void>(busy.add_details()->PackFrom(retry));
  for (const google::rpc::Status& end :
       {EndedWith(absl::StatusCode::kCancelled), EndedWith(absl::StatusCode::kDeadlineExceeded), busy}) {
    const Units units = Read(end);
    EXPECT_THAT(units.units, IsEmpty());
    EXPECT_THAT(units.left_out, ElementsAre(Pair(kFindPath, 1)));
  }
  // What will not pass by itself is compared.
  EXPECT_THAT(Read(EndedWith(absl::StatusCode::kResourceExhausted)).units, SizeIs(1));
}

}  // namespace
}  // namespace waystar::record
