// Arguments of commands, and the fields of requests that they fill in.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/cli/session.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// Adds an argument that may be given any number of times; `accept` gets each text.
CLI::Option* AddTexts(CLI::App& command, const std::string& name,
                      const std::function<void(const std::string&)>& accept, const std::string& description);

template <typename T>
using Choices = std::vector<std::pair<std::string, T>>;

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
  const auto check = [parse](const std::string& text) { return std::string(parse(text).status().message()); };
  return AddTexts(
             command, name, [parse, accept](const std::string& text) { accept(*parse(text)); }, description)
      ->check(check, "", "");
}

// Returns what words of an option stand for, such as "corners|both-free=NO_CORNER_CUTTING": after a word may
// stand the value of the enum, without the enum's name, if the two differ.
Choices<int> ChoicesOf(const google::protobuf::EnumDescriptor& type, absl::string_view words);

// Adds an argument for the field at `path` of `message`, such as "view.overlay.blocked": a flag that sets a
// bool to true, or what ParseMessage reads for a message. Shapes and repeated fields take any number of
// arguments. The messages that the path leads through are there once the argument is given. The help calls
// the argument `type`; if that is empty, a number N. For an enum `type` has the words of ChoicesOf. `message`
// must outlive `command`.
CLI::Option* AddField(CLI::App& command, const std::string& name, google::protobuf::Message& message,
                      const std::string& path, const std::string& description, const std::string& type = "");

// Adds an argument for each field.
struct FieldArgument {
  const char* name;
  const char* path;
  const char* description;
  const char* type = "";
};
void AddFields(CLI::App& command, google::protobuf::Message& message,
               std::initializer_list<FieldArgument> arguments);

// The name of a map, required and positional, for the field `map` of the request.
CLI::Option* AddMap(CLI::App& command, google::protobuf::Message& request);

// Adds an argument that is the name of a file.
CLI::Option* AddFile(CLI::App& command, const std::string& name, std::string& file,
                     const std::string& description);

// Adds -o and --output, the name of a file to write; "-" is standard output, and leaves the name empty.
CLI::Option* AddOutput(CLI::App& command, std::string& file, const std::string& description);

// Returns the candidate most similar to `word`: the first with the smallest edit distance (insertions,
// deletions and replacements). Empty if no distance is less than three.
std::string Suggest(absl::string_view word, const std::vector<std::string>& candidates);

// Adds an argument that is a number from `least` to `most`.
template <typename T>
CLI::Option* AddNumber(CLI::App& command, const std::string& name, T& number, std::type_identity_t<T> least,
                       std::type_identity_t<T> most, const std::string& description) {
  const auto check = [least, most](const std::string& text) {
    T given{};
    const bool is_number = CLI::detail::lexical_cast(text, given);
    return is_number && given >= least && given <= most
               ? std::string()
               : absl::StrCat("'", text, "' is not a number from ", least, " to ", most);
  };
  return command.add_option(name, number, description)->check(CLI::Validator(check, ""))->type_name("N");
}

// --connectivity, --hexagons, --diagonal-cost and --terrain.
void AddGridOptions(CLI::App& command, v1::GridOptions& grid);

// A command, and its arguments, which its options fill in.
template <typename Arguments>
struct Command {
  CLI::App& app;
  Arguments& arguments;
};

// Adds a command that is run by `run`, with the arguments that its options have filled in by then.
template <typename Arguments>
Command<Arguments> AddCommand(CLI::App& parent, Session& session, const std::string& name,
                              const std::string& summary, ExitCode (*run)(const Arguments&, Session&),
                              const std::string& footer) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App& command = *parent.add_subcommand(name, summary);
  command.footer(footer);
  command.callback([arguments, run, &session] { session.exit_code = run(*arguments, session); });
  return {command, *arguments};
}

// Adds a command that is run by one of its subcommands.
CLI::App& AddGroup(CLI::App& parent, const std::string& name, const std::string& summary,
                   const std::string& footer);

// Adds one subcommand, or a group of them, to `parent`. Once the command line is parsed, the one that was
// chosen runs and leaves its result in session.exit_code. `session` must outlive `parent`.
using AddCommands = void(CLI::App& parent, Session& session);

AddCommands AddMapCommands, AddFindCommand, AddPathsCommand, AddWalkCommand, AddAgentsCommand,
    AddValidateCommand, AddTraceCommand, AddRenderCommand, AddAnimateCommand, AddFieldCommands,
    AddEditCommands, AddObstacleCommands, AddPortalCommands, AddGroundCommands, AddWatchCommand,
    AddHealthCommand, AddInfoCommand, AddTopCommand, AddClusterCommand, AddLogLevelCommand, AddTokenCommand,
    AddBenchCommand, AddBackupCommands, AddContextCommands;

// The parts of AddMapCommands about files.
AddCommands AddImportCommand, AddExportCommand;

// Returns the options of the context for a command line, such as "--server=game-7:7450": of the one that
// --context names, or else of the current one. None if there is no current one, or if --server or
// WAYSTAR_SERVER names a server: no other server gets a context's token. Options that the command line has
// itself are not among them. `words` has no option that is cut short. Errors: why there are no such options.
absl::StatusOr<std::vector<std::string>> ContextOptions(const std::vector<std::string>& words);

}  // namespace waystar::cli
