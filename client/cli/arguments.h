#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/cli/session.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

template <typename T>
using Choices = std::vector<std::pair<std::string, T>>;

// Adds an argument that may be given any number of times; `accept` gets each text.
CLI::Option* AddTexts(CLI::App& command, const std::string& name,
                      const std::function<void(const std::string&)>& accept, const std::string& description);

// Adds an argument that is one of a few words; `accept` gets the value that it stands for. It may be given
// more than once if it is `repeated`.
template <typename T, typename Accept>
CLI::Option* AddChoice(CLI::App& command, const std::string& name, Accept accept, const Choices<T>& choices,
                       const std::string& description, bool repeated = false) {
  std::vector<std::string> words;
  for (const auto& choice : choices) {
    words.push_back(choice.first);
  }
  const auto set = [choices, accept](const std::string& chosen) {
    for (const auto& [word, value] : choices) {
      if (word == chosen) {
        accept(value);
      }
    }
  };
  CLI::Option* const option = repeated ? AddTexts(command, name, set, description)->allow_extra_args(false)
                                       : command.add_option_function<std::string>(name, set, description);
  return option->check(CLI::IsMember(words).description(""))->type_name(absl::StrJoin(words, "|"));
}

// Adds an argument with a value of type T, which `accept` gets. The help calls the value `type`, unless that
// is empty.
template <typename T, typename Accept>
CLI::Option* AddValue(CLI::App& command, const std::string& name, Accept accept,
                      const std::string& description, const std::string& type = "") {
  CLI::Option* const option = command.add_option_function<T>(
      name, [accept](const T& value) { accept(value); }, description);
  return type.empty() ? option : option->type_name(type);
}

// Adds an option for a field of a message, which `set` sets; for a bool, a flag that sets it to true.
// `message` must outlive `command`.
template <typename Message, typename T>
CLI::Option* AddField(CLI::App& command, const std::string& name, Message& message, void (Message::*set)(T),
                      const std::string& description, const std::string& type = "N") {
  if constexpr (std::is_same_v<T, bool>) {
    return command.add_flag_callback(
        name, [&message, set] { (message.*set)(true); }, description);
  } else {
    return AddValue<T>(
        command, name, [&message, set](const T& value) { (message.*set)(value); }, description, type);
  }
}

// Adds an argument that `parse` reads; `accept` gets the value. An error of `parse` is a usage error.
template <typename T, typename Accept>
CLI::Option* AddParsed(CLI::App& command, const std::string& name,
                       absl::StatusOr<T> (*parse)(absl::string_view), Accept accept,
                       const std::string& description) {
  const auto set = [parse, accept](const std::string& text) { accept(*parse(text)); };
  const auto check = [parse](const std::string& text) { return std::string(parse(text).status().message()); };
  return command.add_option_function<std::string>(name, set, description)->check(check, "", "");
}

// The same for an argument that may be given any number of times; `accept` gets each value.
template <typename T, typename Accept>
CLI::Option* AddParsedList(CLI::App& command, const std::string& name,
                           absl::StatusOr<T> (*parse)(absl::string_view), Accept accept,
                           const std::string& description) {
  const auto set = [parse, accept](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      accept(*parse(text));
    }
  };
  const auto check = [parse](const std::string& text) { return std::string(parse(text).status().message()); };
  return command.add_option_function<std::vector<std::string>>(name, set, description)->check(check, "", "");
}

// The name of a map, required and positional.
CLI::Option* AddMap(CLI::App& command, std::string& map);

// An option that names one of the layouts of hexagons.
void AddHexLayout(CLI::App& command, const std::string& name,
                  const std::function<void(v1::HexLayout)>& accept, const std::string& text);

// --connectivity, --diagonal-cost and --terrain.
void AddGridOptions(CLI::App& command, v1::GridOptions& grid);

// Adds a command that is run by `run`, with the arguments that its options have filled in by then.
template <typename Arguments>
CLI::App& AddCommand(CLI::App& parent, Session& session, const std::string& name, const std::string& summary,
                     const std::shared_ptr<Arguments>& arguments,
                     ExitCode (*run)(const Arguments&, Session&)) {
  CLI::App& command = *parent.add_subcommand(name, summary);
  command.callback([arguments, run, &session] { session.exit_code = run(*arguments, session); });
  return command;
}

// Adds one subcommand, or a group of them, to `parent`. Once the command line is parsed, the one that was
// chosen runs and leaves its result in session.exit_code. `session` must outlive `parent`.
using AddCommands = void(CLI::App& parent, Session& session);

AddCommands AddMapCommands, AddFindCommand, AddPathsCommand, AddWalkCommand, AddValidateCommand,
    AddTraceCommand, AddRenderCommand, AddAnimateCommand, AddFieldCommands, AddEditCommands,
    AddObstacleCommands, AddPortalCommands, AddWatchCommand, AddHealthCommand, AddInfoCommand, AddTopCommand,
    AddClusterCommand, AddLogLevelCommand, AddTokenCommand, AddBenchCommand, AddBackupCommands;

// All commands in the order of the help.
inline constexpr AddCommands* kAllCommands[] = {
    &AddMapCommands,      &AddFindCommand,    &AddPathsCommand,    &AddWalkCommand,   &AddValidateCommand,
    &AddTraceCommand,     &AddRenderCommand,  &AddAnimateCommand,  &AddFieldCommands, &AddEditCommands,
    &AddObstacleCommands, &AddPortalCommands, &AddWatchCommand,    &AddHealthCommand, &AddInfoCommand,
    &AddTopCommand,       &AddClusterCommand, &AddLogLevelCommand, &AddTokenCommand,  &AddBenchCommand,
    &AddBackupCommands};

// The parts of AddMapCommands about files.
AddCommands AddImportCommand, AddExportCommand;

}  // namespace waystar::cli
