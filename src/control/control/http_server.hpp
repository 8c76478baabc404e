// HTTP/1.1 over a UNIX socket and over TCP on loopback, with optional TLS, on one thread: reads a request, gets its
// answer, writes it. Work of a request runs on another thread, while its connection waits for the answer.
// Thread: created, run and stopped by the owner; run() and run_work() take a thread each. Bounds: connections, bytes
// and times below; a client that exceeds one gets an error or is disconnected. Errors: the constructor throws
// ConfigError for an address that cannot be listened on. Without Boost.Beast it always throws, naming the package.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "control/api.hpp"

namespace nfx::control {

struct HttpLimits {
  // Per listener. If there are more, a connection of the user with the most connections is closed: the one that has
  // waited longest for its client, to send a request or to take its answer. Clients without a proved right count as one
  // user.
  std::size_t connections = 32;
  // A shorter wait is not interrupted; the new connection waits.
  std::chrono::milliseconds least_time{50};
  std::size_t header_bytes = 8192;
  std::size_t body_bytes = Api::largest_body;
  std::chrono::milliseconds request_time{10'000};  // from the first byte, or the last answer, to the request's end
  std::chrono::milliseconds answer_time{10'000};   // time to take the answer
  std::chrono::milliseconds linger_time{1'000};    // time after the last answer until the client closes too
  std::size_t linger_bytes = std::size_t{256} * 1024;
  std::size_t requests = 1000;  // per connection
  // Answers that clients have not yet received, over all connections. For more, connections of the user with the most
  // bytes are closed, oldest first. A single larger answer is sent.
  std::size_t answer_bytes = std::size_t{4} << 20;
};

struct HttpServerOptions {
  const ControlConfig& config;
  HttpLimits limits{};
  std::function<AnswerOrWork(const Request&)> answer;
};

class HttpServer {
 public:
  explicit HttpServer(HttpServerOptions options);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  void run();
  void run_work();
  void stop() noexcept;  // from any thread
  [[nodiscard]] std::uint16_t http_port() const noexcept;
  // Reads certificates, tokens and clients of HTTP again. From any thread, also after this object is destroyed. A file
  // that cannot be read changes nothing, and the text gives the reason.
  [[nodiscard]] std::function<std::string()> reload() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

[[nodiscard]] bool http_supported() noexcept;
inline constexpr std::string_view http_unsupported =
    "[control]: built without Boost.Beast: install the package libboost-dev and build again, or remove "
    "[control]";

}  // namespace nfx::control
