#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/cli/arguments.h"
#include "client/cli/commands.h"

namespace waystar::cli {
namespace {

constexpr std::size_t kMaxNameBytes = 63;
constexpr std::size_t kMaxPatternBytes = 63;

absl::StatusOr<std::string> ParseTokenName(absl::string_view text) {
  const auto is_name_char = [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-';
  };
  if (!text.empty() && text.size() <= kMaxNameBytes && std::all_of(text.begin(), text.end(), is_name_char)) {
    return std::string(text);
  }
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not 1 to ", kMaxNameBytes,
                                                 " of the characters A-Z, a-z, 0-9, '_', '.' and '-'"));
}

absl::StatusOr<std::string> ParseGrant(absl::string_view text) {
  const auto is_pattern_char = [](unsigned char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_' || c == '.' || c == '-' || c == '*';
  };
  for (const absl::string_view permission : {"read:", "update:", "admin:"}) {
    if (absl::StartsWith(text, permission)) {
      const absl::string_view pattern = text.substr(permission.size());
      if (!pattern.empty() && pattern.size() <= kMaxPatternBytes &&
          std::all_of(pattern.begin(), pattern.end(), is_pattern_char)) {
        return std::string(text);
      }
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is not read:MAPS, update:MAPS or admin:MAPS, such as update:arena-*"));
}

// Returns 256 random bits with a prefix by which secret scanners can detect them.
absl::StatusOr<std::string> NewToken() {
  std::array<unsigned char, 32> bits{};
  if (RAND_bytes(bits.data(), bits.size()) != 1) {
    return absl::InternalError("this machine has no random numbers");
  }
  return absl::StrCat("wst_", absl::WebSafeBase64Escape(absl::string_view(
                                  reinterpret_cast<const char*>(bits.data()), bits.size())));
}

std::string Sha256(absl::string_view text) {
  std::array<unsigned char, 32> hash{};
  EVP_Digest(text.data(), text.size(), hash.data(), nullptr, EVP_sha256(), nullptr);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(hash.data()), hash.size()));
}

struct TokenArguments {
  std::string name;
  std::vector<std::string> grants;
};

ExitCode MakeToken(const TokenArguments& arguments, Session& session) {
  const absl::StatusOr<std::string> token = NewToken();
  if (!token.ok()) {
    return session.Fail(token.status());
  }
  const std::string line =
      absl::StrCat(arguments.name, " sha256:", Sha256(*token), " ", absl::StrJoin(arguments.grants, " "));
  if (session.options().json) {
    // Neither has a character that JSON would have escaped.
    session.io().out << R"({"token":")" << *token << R"(","line":")" << line << "\"}\n";
  } else {
    session.io().out << "The token, which is kept nowhere else:\n"
                     << *token << "\nIts line in the server's --tokens_file:\n"
                     << line << "\n";
  }
  return ExitCode::kOk;
}

}  // namespace

void AddTokenCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<TokenArguments>();
  CLI::App& command = AddCommand(parent, session, "token",
                                 "Makes a token, and its line for the server's file", arguments, &MakeToken);
  AddParsed(
      command, "NAME", &ParseTokenName, [arguments](std::string name) { arguments->name = std::move(name); },
      "Who gets it; several may have one name")
      ->required()
      ->type_name("");
  AddParsedList(
      command, "PERMISSION", &ParseGrant,
      [arguments](std::string grant) { arguments->grants.push_back(std::move(grant)); },
      "read:MAPS, update:MAPS (and read) or admin:MAPS (and both), where * stands for any characters of an "
      "id")
      ->required()
      ->type_name("");
  command.footer(
      "Examples:\n"
      "  waystar token game-server-1 'update:arena-*' read:lobby\n"
      "  waystar token editor 'admin:*' --json\n");
}

}  // namespace waystar::cli
