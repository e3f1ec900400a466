#include "client/cli/connection_options.h"

#include <fstream>
#include <string>

#include "client/cli/completion/command_tree.h"

namespace waystar::cli {
namespace {

constexpr char kGroup[] = "Connection";

// What only makes sense with TLS asks for it.
void AddTlsText(CLI::App& app, client::Options& options, const std::string& name, std::string& text,
                const char* type, const std::string& description, const std::string& variable) {
  app.add_option_function<std::string>(
         name,
         [&options, &text](const std::string& value) {
           options.tls = true;
           text = value;
         },
         description)
      ->envname(variable)
      ->type_name(type)
      ->group(kGroup);
}

std::string ReadToken(const std::string& file) {
  std::string token;
  if (!std::getline(std::ifstream(file), token) || token.empty()) {
    throw CLI::ValidationError("--token-file", file + " cannot be read, or holds no token");
  }
  return token;
}

}  // namespace

void AddConnectionOptions(CLI::App& app, client::Options& options) {
  app.add_option("--server", options.target,
                 "Where the server listens [localhost:7450]; several take turns: IP:PORT,IP:PORT or "
                 "dns:///NAME:PORT")
      ->envname("WAYSTAR_SERVER")
      ->type_name("HOST:PORT");
  app.add_flag("--tls", options.tls, "Encrypt, and accept only a server that proves its name")
      ->envname("WAYSTAR_TLS")
      ->group(kGroup);
  AddTlsText(app, options, "--ca", options.ca_file, kFileType,
             "Who vouches for the server, as PEM; implies --tls [whom this machine trusts]", "WAYSTAR_CA");
  AddTlsText(app, options, "--cert", options.cert_file, kFileType,
             "The certificate to show to the server, as PEM; implies --tls", "WAYSTAR_CERT");
  AddTlsText(app, options, "--key", options.key_file, kFileType, "Its key, as PEM; implies --tls",
             "WAYSTAR_KEY");
  AddTlsText(app, options, "--server-name", options.server_name, "NAME",
             "The name that the server must prove; implies --tls [the one in --server]",
             "WAYSTAR_SERVER_NAME");
  const CLI::Option* token =
      app.add_option("--token", options.token,
                     "Tells the server who you are; not seen by other users where the environment says it")
          ->envname("WAYSTAR_TOKEN")
          ->type_name("TOKEN")
          ->group(kGroup);
  app.add_option_function<std::string>(
         "--token-file",
         [&options, token](const std::string& file) {
           if (token->count() == 0) {
             options.token = ReadToken(file);
           }
         },
         "A file whose first line is the token; --token goes before it")
      ->envname("WAYSTAR_TOKEN_FILE")
      ->type_name(kFileType)
      ->group(kGroup);
  app.add_flag("--wait-for-ready", options.wait_for_ready,
               "Wait for a server that cannot be reached yet, as long as for an answer")
      ->group(kGroup);
}

}  // namespace waystar::cli
