// A server that asks for tokens, and calls that show them.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "grpcpp/client_context.h"
#include "server/runtime/options.h"
#include "server/service/auth/token.h"
#include "tests/service/about_map.h"
#include "tests/service/test_server.h"
#include "tests/testing/certificates.h"

namespace waystar {

// A file of the test's own, gone with this.
class TestFile {
 public:
  explicit TestFile(const std::string& name)
      : path_((std::filesystem::path(::testing::TempDir()) /
               absl::StrCat("waystar-", ::getpid(), "-",
                            ::testing::UnitTest::GetInstance()->current_test_info()->name(), "-", name))
                  .string()) {}
  TestFile(const TestFile&) = delete;
  TestFile& operator=(const TestFile&) = delete;
  ~TestFile() { std::filesystem::remove(path_); }

  const std::string& path() const { return path_; }

  // All at once, as an operator should.
  void Write(const std::string& text) const {
    const std::string draft = path_ + ".draft";
    std::ofstream(draft, std::ios::binary) << text;
    ASSERT_EQ(std::rename(draft.c_str(), path_.c_str()), 0);
  }

 private:
  const std::string path_;
};

// The files of a server with TLS.
class CertificateFiles {
 protected:
  void Install(const Identity& identity) const {
    // The key first: until the certificate follows, they do not fit.
    key_.Write(identity.key);
    cert_.Write(identity.cert);
  }

  const TestFile cert_{"cert.pem"};
  const TestFile key_{"key.pem"};
  const TestFile client_ca_{"client-ca.pem"};
};

// A line for the file of tokens. The token is its own name.
inline std::string TokenLine(const std::string& token, const std::string& grants) {
  const rpc::TokenHash hash = rpc::HashToken(token);
  const absl::string_view bytes(reinterpret_cast<const char*>(hash.data()), hash.size());
  return absl::StrCat(token, " sha256:", absl::BytesToHexString(bytes), " ", grants, "\n");
}

inline void ShowToken(grpc::ClientContext& context, const std::string& token) {
  context.AddMetadata("authorization", absl::StrCat("Bearer ", token));
}

class GuardedServer {
 public:
  // With the token "root", which may do everything, beside those of `lines`.
  explicit GuardedServer(const std::string& lines, runtime::Options options = {}) {
    SetTokens(lines);
    options.tokens_file = file_.path();
    server_ = std::make_unique<TestServer>(std::move(options));
    maps_ = v1::MapService::NewStub(server_->NewChannel());
    paths_ = v1::PathService::NewStub(server_->NewChannel());
  }

  TestServer& server() { return *server_; }
  v1::MapService::Stub& maps() { return *maps_; }
  v1::PathService::Stub& paths() { return *paths_; }
  const TestFile& file() const { return file_; }

  // Seen by the server some time later.
  void SetTokens(const std::string& lines) { file_.Write(absl::StrCat(TokenLine("root", "admin:*"), lines)); }

  void Create(const std::string& id, const std::vector<std::string>& rows, const std::string& world = "") {
    auto request = About<v1::CreateMapRequest>(id);
    request.mutable_rows()->Assign(rows.begin(), rows.end());
    request.mutable_grid()->set_world(world);
    const auto created = ClientOf("root").CreateMap(request);
    ASSERT_TRUE(created.ok()) << created.status();
  }

  // A client that shows the token and never retries.
  client::Client ClientOf(const std::string& token) const {
    return client::Client({.target = server_->target(),
                           .timeout = kPatience,
                           .retry = false,
                           .reads_own_writes = false,
                           .token = token});
  }

  // "OK", or the code and the reason, such as "7 NOT_PERMITTED", of a GetMap.
  std::string Get(const std::string& token, const std::string& map) {
    auto request = About<v1::GetMapRequest>(map);
    v1::GetMapResponse response;
    BoundedContext context;
    ShowToken(context, token);
    return Show(maps_->GetMap(&context, request, &response));
  }

  static std::string Show(const grpc::Status& status) {
    return status.ok() ? "OK"
                       : absl::StrCat(static_cast<int>(status.error_code()), " ",
                                      client::ReasonOf(client::FromGrpc(status)));
  }

 private:
  const TestFile file_{"tokens"};
  std::unique_ptr<TestServer> server_;
  std::unique_ptr<v1::MapService::Stub> maps_;
  std::unique_ptr<v1::PathService::Stub> paths_;
};

}  // namespace waystar
