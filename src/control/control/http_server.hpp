// HTTP/1.1 over a UNIX socket and over TCP on loopback, perhaps with TLS, on one thread: reads a request, gets its
// answer, writes it. Work that a request leaves is done on another thread, and its connection waits for the answer.
// Thread: made, run and stopped by the owner; run() and run_work() are a thread's each. Bounds: connections, bytes and
// times below; a client that exceeds one gets an error or is cut. Errors: the constructor throws ConfigError for an
// address that cannot be listened on. In a build without Boost.Beast it always does, naming the package.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "control/api.hpp"

namespace nfx::control {

struct HttpLimits {
  // Of each listener. For a further one, of the user who has most of them, the one that has waited longest for its
  // client is closed: for a request, or to take its answer. Those who have shown no right are one user.
  std::size_t connections = 32;
  // Such a wait is not ended earlier: the further connection waits.
  std::chrono::milliseconds least_time{50};
  std::size_t header_bytes = 8192;
  std::size_t body_bytes = Api::largest_body;
  std::chrono::milliseconds request_time{10'000};  // from the first byte, or the last answer, to the request's end
  std::chrono::milliseconds answer_time{10'000};   // to take the answer
  std::chrono::milliseconds linger_time{1'000};    // after the last answer, until the client closes too
  std::size_t linger_bytes = std::size_t{256} * 1024;
  std::size_t requests = 1000;  // on one connection
  // Answers that clients have not taken, of all connections. For a further one, connections of the user who has most of
  // these bytes are closed, the oldest first. A larger one alone is sent.
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
  void stop() noexcept;  // any thread
  [[nodiscard]] std::uint16_t http_port() const noexcept;
  // Reads certificates, tokens and clients of HTTP again. From any thread, also after the end of this object. What
  // cannot be read stays as it is, and the text gives the reason.
  [[nodiscard]] std::function<std::string()> reload() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

[[nodiscard]] bool http_supported() noexcept;
inline constexpr std::string_view http_unsupported =
    "[control]: this build is without Boost.Beast: install the package libboost-dev and build again, or remove "
    "[control]";

}  // namespace nfx::control
