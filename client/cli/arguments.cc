#include "client/cli/arguments.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <type_traits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "client/cli/completion/completion.h"
#include "client/cli/shape_argument.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// The field at a path of a message.
class Field {
 public:
  Field(Message& message, absl::string_view path) : message_(message) {
    const google::protobuf::Descriptor* type = message.GetDescriptor();
    for (const absl::string_view name : absl::StrSplit(path, '.')) {
      fields_.push_back(type->FindFieldByName(std::string(name)));
      type = fields_.back()->message_type();
    }
  }

  const FieldDescriptor& type() const { return *fields_.back(); }

  // Calls a function of the reflection for the field, such as SetBool.
  template <typename Function, typename... Values>
  auto Call(Function function, const Values&... values) const {
    Message* owner = &message_;
    for (std::size_t i = 0; i + 1 < fields_.size(); ++i) {
      owner = owner->GetReflection()->MutableMessage(owner, fields_[i]);
    }
    return (owner->GetReflection()->*function)(owner, fields_.back(), values...);
  }

 private:
  Message& message_;
  std::vector<const FieldDescriptor*> fields_;
};

// The Levenshtein distance, by the rows of its table.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

template <typename T>
CLI::Option* AddScalar(CLI::App& command, const std::string& name, const Field& field,
                       void (Reflection::*set)(Message*, const FieldDescriptor*, T) const,
                       const std::string& description) {
  CLI::Option* const option = command.add_option_function<T>(
      name, [field, set](const T& value) { field.Call(set, value); }, description);
  return std::is_arithmetic_v<T> ? option->type_name("N") : option;
}

CLI::Option* AddMessage(CLI::App& command, const std::string& name, const Field& field,
                        const std::string& description) {
  const auto accept = [field](const std::string& text) {
    Message* const message = field.type().is_repeated() ? field.Call(&Reflection::AddMessage, nullptr)
                                                        : field.Call(&Reflection::MutableMessage, nullptr);
    ParseMessage(text, *message).IgnoreError();
  };
  const Message* const empty =
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(field.type().message_type());
  const auto check = [empty](const std::string& text) {
    const std::unique_ptr<Message> scratch(empty->New());
    return std::string(ParseMessage(text, *scratch).message());
  };
  const bool is_list = field.type().is_repeated() || empty->GetDescriptor() == v1::Shape::descriptor();
  return (is_list ? AddTexts(command, name, accept, description)
                  : command.add_option_function<std::string>(name, accept, description))
      ->check(check, "", "");
}

CLI::Option* AddAny(CLI::App& command, const std::string& name, const Field& field,
                    const std::string& description) {
  switch (field.type().cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return command.add_flag_callback(
          name, [field] { field.Call(&Reflection::SetBool, true); }, description);
    case FieldDescriptor::CPPTYPE_INT32:
      return AddScalar(command, name, field, &Reflection::SetInt32, description);
    case FieldDescriptor::CPPTYPE_UINT64:
      return AddScalar(command, name, field, &Reflection::SetUInt64, description);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return AddScalar(command, name, field, &Reflection::SetDouble, description);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return AddMessage(command, name, field, description);
    default:
      break;
  }
  return field.type().is_repeated()
             ? AddTexts(
                   command, name,
                   [field](const std::string& text) { field.Call(&Reflection::AddString, text); },
                   description)
             : AddScalar<std::string>(command, name, field, &Reflection::SetString, description);
}

}  // namespace

CLI::Option* AddTexts(CLI::App& command, const std::string& name,
                      const std::function<void(const std::string&)>& accept, const std::string& description) {
  const auto set = [accept](const std::vector<std::string>& texts) {
    std::for_each(texts.begin(), texts.end(), accept);
  };
  return command.add_option_function<std::vector<std::string>>(name, set, description);
}

Choices<int> ChoicesOf(const google::protobuf::EnumDescriptor& type, absl::string_view words) {
  Choices<int> choices;
  for (const absl::string_view entry : absl::StrSplit(words, '|')) {
    const std::vector<std::string> parts = absl::StrSplit(entry, '=');
    const std::string name =
        absl::StrCat("_", absl::AsciiStrToUpper(absl::StrReplaceAll(parts.back(), {{"-", "_"}})));
    for (int i = 0; i < type.value_count(); ++i) {
      if (absl::EndsWith(type.value(i)->name(), name)) {
        choices.emplace_back(parts.front(), type.value(i)->number());
      }
    }
  }
  return choices;
}

CLI::Option* AddField(CLI::App& command, const std::string& name, Message& message, const std::string& path,
                      const std::string& description, const std::string& type) {
  const Field field(message, path);
  if (const auto* const values = field.type().enum_type()) {
    const auto accept = [field](int value) { field.Call(&Reflection::SetEnumValue, value); };
    return AddChoice(command, name, accept, ChoicesOf(*values, type), description);
  }
  CLI::Option* const option = AddAny(command, name, field, description);
  return type.empty() ? option : option->type_name(type);
}

void AddFields(CLI::App& command, Message& message, std::initializer_list<FieldArgument> arguments) {
  for (const FieldArgument& argument : arguments) {
    AddField(command, argument.name, message, argument.path, argument.description, argument.type);
  }
}

CLI::Option* AddMap(CLI::App& command, Message& request) {
  return AddField(command, "MAP", request, "map", "The map's name", kMapType)->required();
}

CLI::Option* AddFile(CLI::App& command, const std::string& name, std::string& file,
                     const std::string& description) {
  return command.add_option(name, file, description)->type_name(kFileType);
}

CLI::Option* AddOutput(CLI::App& command, std::string& file, const std::string& description) {
  return command
      .add_option_function<std::string>(
          "-o,--output", [&file](const std::string& name) { file = name == "-" ? "" : name; }, description)
      ->type_name(kFileType);
}

std::string Suggest(absl::string_view word, const std::vector<std::string>& candidates) {
  size_t smallest = 3;
  std::string best;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(word, candidate);
    if (distance < std::min(smallest, candidate.size())) {
      smallest = distance;
      best = candidate;
    }
  }
  return best;
}

void AddGridOptions(CLI::App& command, v1::GridOptions& grid) {
  AddFields(
      command, grid,
      {{"--connectivity", "squares.connectivity",
        "How many neighbours a cell has [what the file says, else 8]", "4=FOUR|8=EIGHT"},
       {"--hexagons", "hexagons.layout",
        "Make a map of hexagons: a board of columns and rows, of which every other row (with a corner on "
        "top) or column (with a side on top) is shifted, or an axial plane",
        "axial-pointy|axial-flat|odd-rows|even-rows|odd-columns|even-columns"},
       {"--diagonal-cost", "squares.diagonal_cost",
        "What a diagonal step costs, where a straight one costs 1: from 1 to 2 [the square root of 2]",
        "COST"}});
  command.get_option("--hexagons")->excludes("--connectivity", "--diagonal-cost");
  AddField(
      command, "--terrain", grid, "terrains",
      "A kind of ground, SYMBOL=NAME:COST, such as '~=river:3' or '^=mountain:impassable'; may be repeated",
      "TERRAIN")
      ->allow_extra_args(false);
}

CLI::App& AddGroup(CLI::App& parent, const std::string& name, const std::string& summary,
                   const std::string& footer) {
  CLI::App& group = *parent.add_subcommand(name, summary);
  group.require_subcommand(1);
  group.footer(footer);
  return group;
}

}  // namespace waystar::cli
