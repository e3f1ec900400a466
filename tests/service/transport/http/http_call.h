// What a browser sends, and what it gets, over a socket of its own.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "tests/service/transport/net/tcp_client.h"

namespace waystar {

struct HttpRequest {
  std::string method = "GET";
  std::string path = "/";
  // Host is that of a browser, and Connection is "close", unless they are given.
  std::map<std::string, std::string> headers;
  std::string body;
};

// One request to a port of this machine, and its answer as it comes.
class HttpCall {
 public:
  // Reads the answer up to its body. Fails the test if there is none.
  HttpCall(int port, HttpRequest request);

  int code() const { return code_; }
  // By its name in lower case; empty if there is none.
  std::string Header(const std::string& name) const;

  // The next line of a stream that is not empty; nothing when the stream has ended.
  std::optional<std::string> NextLine();
  // All that is left.
  std::string Body();
  // Whether the server has closed the connection when all is read.
  bool IsClosed();

 private:
  // False at the end of the connection.
  bool Receive();
  std::string TakeThrough(const std::string& end);
  // Moves what has arrived of the body from `raw_` to `body_`. False if there is no more of it.
  bool ReadBody();

  TcpClient client_;
  int code_ = 0;
  std::map<std::string, std::string> headers_;
  std::string raw_;
  std::string body_;
};

}  // namespace waystar
