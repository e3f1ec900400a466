#include "tests/bench/http_loop.h"

#include <civetweb.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/util/json_util.h"

namespace waystar::bench {
namespace {

using HttpClock = std::chrono::steady_clock;

constexpr int kTimeoutMillis = 60'000;

[[noreturn]] void GiveUp(const char* what) {
  std::cerr << what << "\n";
  std::_Exit(1);
}

std::string HttpRequestOf(const v1::FindPathRequest& request) {
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(request, &json).ok()) {
    GiveUp("the request has no JSON");
  }
  return absl::StrCat("POST /waystar.v1.PathService/FindPath HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ",
                      json.size(), "\r\n\r\n", json);
}

// Makes calls one after the other, and returns how long each took.
std::vector<double> CallOneByOne(int port, const std::string& request, int calls) {
  std::array<char, 256> error = {};
  mg_connection* const connection =
      mg_connect_client("127.0.0.1", port, /*use_ssl=*/0, error.data(), error.size());
  if (connection == nullptr) {
    GiveUp("no connection for HTTP");
  }
  std::vector<double> micros;
  std::array<char, 64 << 10> body;
  for (int i = 0; i < calls; ++i) {
    const HttpClock::time_point begin = HttpClock::now();
    if (mg_write(connection, request.data(), request.size()) != static_cast<int>(request.size()) ||
        mg_get_response(connection, error.data(), error.size(), kTimeoutMillis) < 0 ||
        mg_get_response_info(connection)->status_code != 200) {
      GiveUp("a call over HTTP failed");
    }
    while (mg_read(connection, body.data(), body.size()) > 0) {
    }
    micros.push_back(std::chrono::duration<double, std::micro>(HttpClock::now() - begin).count());
  }
  mg_close_connection(connection);
  return micros;
}

}  // namespace

LoopResult RunHttpLoop(int port, const v1::FindPathRequest& request, int connections, int calls) {
  mg_init_library(0);
  const std::string text = HttpRequestOf(request);
  std::vector<std::vector<double>> micros(static_cast<std::size_t>(connections));
  std::vector<std::thread> threads;
  const HttpClock::time_point begin = HttpClock::now();
  for (std::vector<double>& own : micros) {
    threads.emplace_back([&] { own = CallOneByOne(port, text, calls / connections); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  LoopResult result;
  result.elapsed = HttpClock::now() - begin;
  for (const std::vector<double>& own : micros) {
    for (const double each : own) {
      result.latency_micros.Add(each);
    }
  }
  mg_exit_library();
  return result;
}

}  // namespace waystar::bench
