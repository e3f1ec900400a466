#include "client/cli/completion/command_tree.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace waystar::cli {
namespace {

Values ValuesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type == kMapType) {
    return {Values::Kind::kMaps, {}};
  }
  if (type == kFileType) {
    return {Values::Kind::kFiles, {}};
  }
  if (type.find('|') != std::string::npos) {
    return {Values::Kind::kWords, absl::StrSplit(type, '|')};
  }
  return {};
}

OptionNode DescribeOption(const CLI::Option& option) {
  OptionNode node;
  for (const std::string& name : option.get_snames()) {
    node.names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    node.names.push_back("--" + name);
  }
  node.summary = option.get_description();
  node.takes_value = option.get_items_expected_max() > 0;
  node.values = ValuesOf(option);
  return node;
}

void Walk(const CLI::App& app, CommandNode node, std::vector<CommandNode>& commands) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      const bool repeats = option->get_expected_max() >= CLI::detail::expected_max_vector_size;
      node.positionals.push_back({ValuesOf(*option), repeats});
    } else {
      node.options.push_back(DescribeOption(*option));
    }
  }
  const auto subcommands = app.get_subcommands({});
  for (const CLI::App* subcommand : subcommands) {
    node.subcommands.push_back({subcommand->get_name(), subcommand->get_description()});
  }
  commands.push_back(node);
  for (const CLI::App* subcommand : subcommands) {
    CommandNode child;
    child.path = absl::StrCat(node.path, " ", subcommand->get_name());
    for (const OptionNode& option : node.options) {
      // Each command has a help of its own.
      if (option.names.back() != "--help") {
        child.options.push_back(option);
      }
    }
    Walk(*subcommand, std::move(child), commands);
  }
}

}  // namespace

std::vector<CommandNode> WalkCommands(const CLI::App& root) {
  std::vector<CommandNode> commands;
  CommandNode node;
  node.path = root.get_name();
  Walk(root, std::move(node), commands);
  return commands;
}

std::vector<std::string> SubcommandPlaces(const std::vector<CommandNode>& commands) {
  std::vector<std::string> places;
  for (const CommandNode& command : commands) {
    for (const SubcommandNode& subcommand : command.subcommands) {
      places.push_back(Quote(absl::StrCat(command.path, " ", subcommand.name)));
    }
  }
  return places;
}

std::vector<std::string> ValuePlaces(const std::vector<CommandNode>& commands) {
  std::vector<std::string> places;
  for (const CommandNode& command : commands) {
    for (const OptionNode& option : command.options) {
      for (const std::string& name : option.names) {
        if (option.takes_value) {
          places.push_back(Quote(absl::StrCat(command.path, " ", name)));
        }
      }
    }
  }
  return places;
}

std::string Quote(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

}  // namespace waystar::cli
