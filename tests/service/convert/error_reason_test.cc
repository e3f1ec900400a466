// The reasons of the core are those of the contract.

#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"
#include "server/base/error.h"
#include "waystar/v1/error_reason.pb.h"

namespace waystar::rpc {
namespace {

TEST(ErrorReasonTest, HasTheNumbersAndNamesOfTheContract) {
  const google::protobuf::EnumDescriptor& contract = *v1::ErrorReason_descriptor();
  EXPECT_EQ(contract.value_count(), static_cast<int>(ErrorReason::kMapLoading) + 1);
  for (int i = 1; i < contract.value_count(); ++i) {
    const google::protobuf::EnumValueDescriptor& value = *contract.value(i);
    EXPECT_EQ(ErrorReasonName(static_cast<ErrorReason>(value.number())), value.name());
  }
}

}  // namespace
}  // namespace waystar::rpc
