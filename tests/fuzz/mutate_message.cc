#include "tests/fuzz/mutate_message.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "google/protobuf/descriptor.h"

namespace waystar::fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

template <typename T, std::size_t N>
T OneOf(const T (&values)[N], Random& random) {
  return values[random.Between(0, static_cast<int>(N) - 1)];
}

std::int64_t SomeInteger(Random& random) {
  constexpr std::int64_t kEnds[] = {0,
                                    1,
                                    -1,
                                    2,
                                    48,
                                    8192,
                                    65'536,
                                    std::numeric_limits<std::int32_t>::max(),
                                    std::numeric_limits<std::int32_t>::min(),
                                    std::numeric_limits<std::int64_t>::max(),
                                    std::numeric_limits<std::int64_t>::min()};
  return random.Chance(0.5) ? random.Between(-2, 20) : OneOf(kEnds, random);
}

double SomeDouble(Random& random) {
  using Limits = std::numeric_limits<double>;
  constexpr double kEnds[] = {0.0,
                              -0.0,
                              0.5,
                              1.0,
                              -1.0,
                              1e-9,
                              1e9,
                              1e19,
                              1e300,
                              -1e19,
                              0.001,
                              Limits::denorm_min(),
                              1e6,
                              1e-3,
                              1.5,
                              Limits::max(),
                              -1e300,
                              Limits::infinity(),
                              -Limits::infinity(),
                              Limits::quiet_NaN()};
  return random.Chance(0.5) ? random.Between(-80, 640) / 32.0 : OneOf(kEnds, random);
}

std::string SomeString(absl::Span<const absl::string_view> words, Random& random) {
  if (random.Chance(0.8)) {
    return std::string(
        words[static_cast<std::size_t>(random.Between(0, static_cast<int>(words.size()) - 1))]);
  }
  return std::string(static_cast<std::size_t>(random.Between(0, 140)),
                     static_cast<char>(random.Between(1, 127)));
}

// All messages that there are in one, itself included.
void Collect(Message& message, std::vector<Message*>& all) {
  all.push_back(&message);
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      continue;
    }
    if (!field->is_repeated()) {
      Collect(*reflection.MutableMessage(&message, field), all);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      Collect(*reflection.MutableRepeatedMessage(&message, field, i), all);
    }
  }
}

class FieldMutator {
 public:
  FieldMutator(Message& message, const FieldDescriptor& field, absl::Span<const absl::string_view> words,
               Random& random)
      : message_(message),
        reflection_(*message.GetReflection()),
        field_(field),
        words_(words),
        random_(random) {}

  void Mutate() {
    if (!field_.is_repeated()) {
      if (random_.Chance(0.2)) {
        reflection_.ClearField(&message_, &field_);
      } else {
        Set();
      }
      return;
    }
    const int size = reflection_.FieldSize(message_, &field_);
    switch (size == 0 ? 0 : random_.Between(0, 3)) {
      case 0:
        Add();
        break;
      case 1:
        reflection_.RemoveLast(&message_, &field_);
        break;
      case 2:
        reflection_.SwapElements(&message_, &field_, random_.Between(0, size - 1),
                                 random_.Between(0, size - 1));
        break;
      default:
        Repeat(random_.Between(0, size - 1));
        break;
    }
  }

 private:
  void Set() {
    switch (field_.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return reflection_.SetInt32(&message_, &field_, static_cast<std::int32_t>(SomeInteger(random_)));
      case FieldDescriptor::CPPTYPE_INT64:
        return reflection_.SetInt64(&message_, &field_, SomeInteger(random_));
      case FieldDescriptor::CPPTYPE_UINT32:
        return reflection_.SetUInt32(&message_, &field_, static_cast<std::uint32_t>(SomeInteger(random_)));
      case FieldDescriptor::CPPTYPE_UINT64:
        return reflection_.SetUInt64(&message_, &field_, static_cast<std::uint64_t>(SomeInteger(random_)));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return reflection_.SetDouble(&message_, &field_, SomeDouble(random_));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return reflection_.SetFloat(&message_, &field_, static_cast<float>(SomeDouble(random_)));
      case FieldDescriptor::CPPTYPE_BOOL:
        return reflection_.SetBool(&message_, &field_, random_.Chance(0.5));
      case FieldDescriptor::CPPTYPE_ENUM:
        return reflection_.SetEnumValue(&message_, &field_, random_.Between(-1, 9));
      case FieldDescriptor::CPPTYPE_STRING:
        return reflection_.SetString(&message_, &field_, SomeString(words_, random_));
      case FieldDescriptor::CPPTYPE_MESSAGE:
        reflection_.MutableMessage(&message_, &field_);
        return;
    }
  }

  void Add() {
    switch (field_.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        reflection_.AddMessage(&message_, &field_);
        return;
      case FieldDescriptor::CPPTYPE_STRING:
        return reflection_.AddString(&message_, &field_, SomeString(words_, random_));
      case FieldDescriptor::CPPTYPE_ENUM:
        return reflection_.AddEnumValue(&message_, &field_, random_.Between(-1, 9));
      default:
        // The contract's requests repeat nothing else.
        return;
    }
  }

  void Repeat(int index) {
    for (int copies = random_.Chance(0.05) ? 300 : 1; copies > 0; --copies) {
      switch (field_.cpp_type()) {
        case FieldDescriptor::CPPTYPE_MESSAGE:
          reflection_.AddMessage(&message_, &field_)
              ->CopyFrom(reflection_.GetRepeatedMessage(message_, &field_, index));
          break;
        case FieldDescriptor::CPPTYPE_STRING:
          reflection_.AddString(&message_, &field_, reflection_.GetRepeatedString(message_, &field_, index));
          break;
        default:
          return Add();
      }
    }
  }

  Message& message_;
  const Reflection& reflection_;
  const FieldDescriptor& field_;
  absl::Span<const absl::string_view> words_;
  Random& random_;
};

}  // namespace

void MutateMessage(Message& message, absl::Span<const absl::string_view> words, Random& random) {
  std::vector<Message*> all;
  Collect(message, all);
  Message& chosen = *all[static_cast<std::size_t>(random.Between(0, static_cast<int>(all.size()) - 1))];
  const int fields = chosen.GetDescriptor()->field_count();
  if (fields == 0) {
    return;
  }
  const FieldDescriptor& field = *chosen.GetDescriptor()->field(random.Between(0, fields - 1));
  FieldMutator(chosen, field, words, random).Mutate();
}

}  // namespace waystar::fuzz
