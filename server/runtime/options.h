// Server options, set by flag, environment variable or flag file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace waystar::runtime {

// Memory that a search needs to visit every cell of the largest map, in MiB.
inline constexpr std::size_t kMostScratchMib = 1280;

// The values of the flags, with their defaults. A field has the name of its flag, and flags.inc has its
// meaning.
struct Options {
#define GROUP(title) static_assert(true)
#define FLAG(type, name, value, values, help) type name = value
#include "server/runtime/flags.inc"
};

// Sets scratch_mib and max_maps_memory_mib where they are 0, so that both fit into `limit_mib` beside calls
// and the process itself:
// - Searches get half of it or what the others leave, whichever is less, but at least an eighth; and at most
//   kMostScratchMib per worker.
// - Maps get half of it or what the others leave, whichever is less, but at least an eighth.
//
// REQUIRES: workers > 0.
void DivideMemory(std::size_t limit_mib, Options& options);

// Reads the command line and the environment. A flag --max_maps can also be set as WAYSTAR_MAX_MAPS, or in a
// file of lines "--max_maps=10" named by --flagfile or WAYSTAR_FLAGFILE. The command line overrides the
// environment, which overrides the file.
//
// Dashes in the name of a flag on the command line are read as underscores. Fills in `workers`, `scratch_mib`
// and `max_maps_memory_mib`, and the host of an address that is only a port.
//
// Returns INVALID_ARGUMENT, with the flag's name, for a value out of range or an argument that is not a flag.
// For --help, --version and errors of the flag library itself, prints and exits.
absl::StatusOr<Options> ReadOptions(int argc, char** argv);

// Returns, sorted, the names of environment variables that begin with WAYSTAR_ and that neither the server
// nor the command line tool reads: misspelled flags, for example. Ignores those that Kubernetes and Docker
// set for a service named "waystar".
std::vector<std::string> UnknownVariables();

}  // namespace waystar::runtime
