#include "server/runtime/options.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <limits>
#include <thread>
#include <type_traits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/flags/commandlineflag.h"
#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/reflection.h"
#include "absl/flags/usage_config.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "server/base/error.h"
#include "server/runtime/process.h"

namespace waystar::runtime {
namespace {

// Numbers are parsed with 64 bits, so that the error for one out of range has the range.
template <typename T>
using FlagType = std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, std::int64_t, T>;

}  // namespace
}  // namespace waystar::runtime

#define GROUP(title) static_assert(true)
#define FLAG(type, name, value, values, help) ABSL_FLAG(waystar::runtime::FlagType<type>, name, value, help)
#include "server/runtime/flags.inc"

namespace waystar::runtime {
namespace {

// Values that a flag takes.
template <typename T>
struct Values {
  // Description for --help and errors, such as "1 to 1000".
  std::string text;
  std::function<bool(const T&)> takes = [](const T& /*value*/) { return true; };
};

Values<std::int64_t> Numbers(std::int64_t low, std::int64_t high, absl::string_view unit = "") {
  return {absl::StrCat(low, " to ", high, unit),
          [=](std::int64_t value) { return value >= low && value <= high; }};
}

Values<std::int64_t> Mib(std::int64_t low, std::int64_t high = 1 << 20) { return Numbers(low, high, " MiB"); }

Values<absl::Duration> Times(absl::Duration low = absl::ZeroDuration()) {
  return {absl::StrCat(absl::FormatDuration(low), " to 24h"),
          [=](absl::Duration value) { return value >= low && value <= absl::Hours(24); }};
}

Values<absl::Duration> PositiveTimes() {
  return {"more than 0 and at most 24h", Times(absl::Nanoseconds(1)).takes};
}

template <typename T>
Values<T> ZeroOr(const Values<T>& others) {
  return {absl::StrCat("0 or ", others.text),
          [takes = others.takes](const T& value) { return value == T() || takes(value); }};
}

Values<bool> Switch() { return {"true or false"}; }

Values<std::string> Text(std::string text) { return {std::move(text)}; }

Values<std::string> OneOf(const std::vector<std::string>& words) {
  return {absl::StrCat("one of ", absl::StrJoin(words, ", ")),
          [words](const std::string& value) { return absl::c_linear_search(words, value); }};
}

// Copies the value of a flag into the field of its option, or returns INVALID_ARGUMENT with the flag's name.
template <typename T, typename Field>
absl::Status Read(const absl::Flag<T>& flag, const Values<T>& values, Field& field) {
  const T value = absl::GetFlag(flag);
  if (!values.takes(value)) {
    const absl::CommandLineFlag& named = absl::GetFlagReflectionHandle(flag);
    return absl::InvalidArgumentError(
        absl::StrCat("--", named.Name(), " must be ", values.text, ", got ", named.CurrentValue()));
  }
  field = static_cast<Field>(value);
  return absl::OkStatus();
}

void AppendHelp(const absl::CommandLineFlag& flag, absl::string_view values, std::string& text) {
  constexpr std::size_t kColumns = 80;
  const std::string value = flag.DefaultValue();
  absl::StrAppend(&text, "  --", flag.Name(), " (", values, value.empty() ? "" : "; default ", value, ")");
  const std::string help = flag.Help();
  std::size_t column = kColumns;
  for (const absl::string_view word : absl::StrSplit(help, ' ')) {
    if (column + 1 + word.size() > kColumns) {
      text += "\n     ";
      column = 5;
    }
    absl::StrAppend(&text, " ", word);
    column += 1 + word.size();
  }
  text += "\n";
}

std::string Help() {
  std::string text =
      "Serves paths on grids, graphs and navigation meshes over gRPC.\n\n"
      "  waystar-server --maps_dir=maps --data_dir=data --listen=127.0.0.1:7450\n"
      "  waystar-server data check data\n\n"
      "The second command checks a folder of --data_dir; `waystar-server data` lists\n"
      "what else it can do.\n\n"
      "Flags can be written with dashes too: --max-maps is --max_maps. Each can also be\n"
      "set in the environment (WAYSTAR_MAX_MAPS=10), or in a file of lines such as\n"
      "\"--max_maps=10\" that --flagfile or WAYSTAR_FLAGFILE names. The command line\n"
      "overrides the environment, which overrides the file.\n";
#define GROUP(title) absl::StrAppend(&text, "\n", title, ":\n")
#define FLAG(type, name, value, values, help) \
  AppendHelp(absl::GetFlagReflectionHandle(FLAGS_##name), (values).text, text)
#include "server/runtime/flags.inc"
  return text;
}

constexpr absl::string_view kFlagFile = "flagfile";
// Begins the names of environment variables.
constexpr absl::string_view kPrefix = "WAYSTAR_";

void AppendFromEnvironment(absl::string_view flag, std::vector<std::string>& args) {
  if (const char* value = std::getenv(absl::StrCat(kPrefix, absl::AsciiStrToUpper(flag)).c_str())) {
    args.push_back(absl::StrCat("--", flag, "=", value));
  }
}

// Replaces the dashes in the name of a flag: --max-maps=10 is --max_maps=10.
std::string WithUnderscores(std::string argument) {
  if (absl::StartsWith(argument, "-")) {
    std::replace(std::find_if(argument.begin(), argument.end(), [](char c) { return c != '-'; }),
                 std::find(argument.begin(), argument.end(), '='), '-', '_');
  }
  return argument;
}

// Returns the arguments in increasing priority, since a later flag overrides an earlier one: flag files, the
// environment, the rest of the command line.
std::vector<std::string> ArgumentsInOrder(int argc, char** argv) {
  std::vector<std::string> args = {argv[0]};
  AppendFromEnvironment(kFlagFile, args);
  std::vector<std::string> rest;
  for (int i = 1; i < argc; ++i) {
    const absl::string_view argument = argv[i];
    const absl::string_view flag = absl::StripPrefix(absl::StripPrefix(argument, "-"), "-");
    if (flag == kFlagFile && flag != argument && i + 1 < argc) {
      args.push_back(absl::StrCat("--", kFlagFile, "=", argv[++i]));
    } else if (absl::StartsWith(flag, absl::StrCat(kFlagFile, "=")) && flag != argument) {
      args.emplace_back(argument);
    } else {
      rest.push_back(WithUnderscores(argv[i]));
    }
  }
  for (const auto& [name, flag] : absl::GetAllFlags()) {
    if (absl::StrContains(flag->Filename(), "server/runtime/")) {
      AppendFromEnvironment(name, args);
    }
  }
  args.insert(args.end(), rest.begin(), rest.end());
  return args;
}

// Returns INVALID_ARGUMENT if flags do not go together.
absl::Status CheckTogether(const Options& options) {
  const bool is_relaxed = options.durability == "relaxed";
  const bool has_fleet = !options.cluster.empty();
  const bool has_etcd_files = !options.cluster_ca.empty() || !options.cluster_cert.empty();
  const bool has_tls = !options.tls_cert.empty();
  const bool has_http = !options.http_listen.empty();
  const std::pair<bool, absl::string_view> faults[] = {
      {is_relaxed && options.data_dir.empty(), "--durability=relaxed needs --data_dir"},
      {!is_relaxed && options.sync_interval != Options().sync_interval,
       "--sync_interval needs --durability=relaxed"},
      {!has_fleet && (options.cluster_tls || has_etcd_files || !options.cluster_password_file.empty()),
       "the flags that begin with --cluster_ need --cluster"},
      {!has_fleet && !options.image_dir.empty(), "--image_dir needs --cluster"},
      {!has_fleet && options.max_staleness > absl::ZeroDuration(), "--max_staleness needs --cluster"},
      {has_etcd_files && !options.cluster_tls, "--cluster_ca and --cluster_cert need --cluster_tls"},
      {options.cluster_cert.empty() != options.cluster_key.empty(),
       "--cluster_cert and --cluster_key need each other"},
      {has_tls == options.tls_key.empty(), "--tls_cert and --tls_key go together"},
      {!has_tls && !options.tls_client_ca.empty(), "--tls_client_ca needs --tls_cert and --tls_key"},
      {!has_http && !options.http_allow_origin.empty(), "--http_allow_origin needs --http_listen"},
      {!has_http && options.http_tls, "--http_tls needs --http_listen"},
      {!has_tls && options.http_tls, "--http_tls needs --tls_cert and --tls_key"},
      {has_http && !options.tls_client_ca.empty() && !options.http_tls,
       "--http_listen asks for no certificates, and --tls_client_ca wants them of all clients: --http_tls "
       "asks for them over HTTP as well"},
  };
  for (const auto& [is_fault, message] : faults) {
    if (is_fault) {
      return absl::InvalidArgumentError(message);
    }
  }
  return absl::OkStatus();
}

// Memory of the process itself, its threads and connections.
constexpr std::size_t kProcessMib = 64;
constexpr std::size_t kLeastScratchMib = 2;

absl::StatusOr<Options> FromFlags() {
  Options options;
#define GROUP(title) static_assert(true)
#define FLAG(type, name, value, values, help) \
  WAYSTAR_RETURN_IF_ERROR(Read(FLAGS_##name, values, options.name))
#include "server/runtime/flags.inc"
  for (std::string* const address : {&options.listen, &options.http_listen, &options.metrics_listen}) {
    if (!address->empty() && absl::c_all_of(*address, absl::ascii_isdigit)) {
      address->insert(0, "localhost:");
    }
  }
  WAYSTAR_RETURN_IF_ERROR(CheckTogether(options));
  if (options.workers == 0) {
    options.workers = std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
  }
  DivideMemory(MemoryLimit() >> 20, options);
  return options;
}

}  // namespace

void DivideMemory(std::size_t limit_mib, Options& options) {
  const auto workers = static_cast<std::size_t>(options.workers);
  // Heap overhead grows with the heap: allow a sixteenth.
  const std::size_t others = options.max_call_memory_mib + kProcessMib + limit_mib / 16;
  const auto half_beside = [&](std::size_t more) {
    return std::min(limit_mib / 2, limit_mib - std::min(limit_mib, others + more));
  };
  const std::size_t least_of_maps =
      options.max_maps_memory_mib > 0 ? options.max_maps_memory_mib : limit_mib / 8;
  if (options.scratch_mib == 0) {
    options.scratch_mib = std::clamp(std::max(half_beside(least_of_maps), limit_mib / 8) / workers,
                                     kLeastScratchMib, kMostScratchMib);
  }
  if (options.max_maps_memory_mib == 0) {
    options.max_maps_memory_mib =
        std::max({half_beside(workers * options.scratch_mib), least_of_maps, std::size_t{1}});
  }
}

absl::StatusOr<Options> ReadOptions(int argc, char** argv) {
  absl::FlagsUsageConfig config;
  config.version_string = [] { return std::string("waystar-server " WAYSTAR_VERSION "\n"); };
  absl::SetFlagsUsageConfig(config);

  std::vector<std::string> arguments = ArgumentsInOrder(argc, argv);
  for (const absl::string_view argument : arguments) {
    if (argument == "--help" || argument == "-help" || argument == "--helpshort") {
      std::cout << Help();
      // The flag library does so for --helpfull.
      std::exit(EXIT_FAILURE);
    }
  }
  std::vector<char*> pointers;
  pointers.reserve(arguments.size());
  for (std::string& argument : arguments) {
    pointers.push_back(argument.data());
  }
  const std::vector<char*> positional =
      absl::ParseCommandLine(static_cast<int>(pointers.size()), pointers.data());
  if (positional.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat("\"", positional[1], "\" is not a flag"));
  }
  return FromFlags();
}

namespace {

// Variables of the command line tool, which containers set as well, and of the project's scripts.
constexpr absl::string_view kOthers[] = {"CA",     "CERT",        "DATA", "FLAGFILE", "KEY",
                                         "SERVER", "SERVER_NAME", "TLS",  "TOKEN",    "TOKEN_FILE"};

// Returns true if the server or those read the variable. `name` is without the prefix.
bool IsRead(absl::string_view name) {
  const std::string flag = absl::AsciiStrToLower(name);
  return absl::c_linear_search(kOthers, name) ||
         (absl::AsciiStrToUpper(flag) == name && absl::FindCommandLineFlag(flag) != nullptr);
}

// Returns true for a variable that an orchestrator sets to describe a service. Kubernetes sets
// WAYSTAR_SERVICE_HOST and WAYSTAR_SERVICE_PORT. Kubernetes and Docker links set WAYSTAR_PORT and
// WAYSTAR_PORT_7450_TCP, which are URLs, and WAYSTAR_PORT_7450_TCP_ADDR.
bool IsOfAService(absl::string_view name, absl::string_view value) {
  return absl::StrContains(name, "SERVICE_HOST") || absl::StrContains(name, "SERVICE_PORT") ||
         (absl::StrContains(name, "PORT") && absl::StrContains(value, "://")) ||
         absl::StrContains(name, "_TCP_") || absl::StrContains(name, "_UDP_");
}

}  // namespace

std::vector<std::string> UnknownVariables() {
  std::vector<std::string> unknown;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(*variable, absl::MaxSplits('=', 1));
    absl::string_view name = parts.first;
    if (absl::ConsumePrefix(&name, kPrefix) && !IsRead(name) && !IsOfAService(name, parts.second)) {
      unknown.emplace_back(parts.first);
    }
  }
  std::sort(unknown.begin(), unknown.end());
  return unknown;
}

}  // namespace waystar::runtime
