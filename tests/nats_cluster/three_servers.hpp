// Three nats-servers with JetStream as one cluster on loopback, for tests; killed with the object at the latest. The
// environment variable NFX_NATS_SERVER selects another server program. A RoutePort can put a relay between two of them.
// Thread: one. Errors: std::runtime_error.
#pragma once

#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "temporary_folder.hpp"
#include "transport/loopback.hpp"

extern char** environ;

namespace nfx::test {

inline std::string nats_server_program() {
  const char* chosen = std::getenv("NFX_NATS_SERVER");
  return chosen != nullptr ? chosen : NFX_NATS_SERVER;
}

// The port at which a server reaches another one that listens on `port`.
using RoutePort = std::function<std::uint16_t(int from, int to, std::uint16_t port)>;

class ThreeServers {
 public:
  explicit ThreeServers(const RoutePort& route_port = [](int, int, std::uint16_t port) { return port; }) {
    for (int i = 0; i < 3; ++i) {
      clients_.push_back(free_port());
      routes_.push_back(free_port());
      monitors_.push_back(free_port());
    }
    for (int i = 0; i < 3; ++i) {
      write_configuration(i, route_port);
      start(i);
    }
  }
  ThreeServers(const ThreeServers&) = delete;
  ThreeServers& operator=(const ThreeServers&) = delete;
  ~ThreeServers() {
    for (int i = 0; i < 3; ++i) kill(i);
  }

  [[nodiscard]] std::string url(const std::string& user = "gateway") const {
    std::string text;
    for (const std::uint16_t port : clients_)
      text += (text.empty() ? "nats://" : ",nats://") + user + ":secret@127.0.0.1:" + std::to_string(port);
    return text;
  }

  [[nodiscard]] std::uint16_t client_port(int i) const { return clients_.at(static_cast<std::size_t>(i)); }

  void start(int i) {
    const std::string program = nats_server_program(), file = configuration(i);
    std::array<char*, 4> arguments{const_cast<char*>(program.c_str()), const_cast<char*>("-c"),
                                   const_cast<char*>(file.c_str()), nullptr};
    pid_t& pid = pids_[static_cast<std::size_t>(i)];
    if (::posix_spawn(&pid, program.c_str(), nullptr, nullptr, arguments.data(), environ) != 0) {
      pid = 0;
      throw std::runtime_error(program + " cannot be started");
    }
  }
  void kill(int i) {
    pid_t& pid = pids_[static_cast<std::size_t>(i)];
    if (pid == 0) return;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    pid = 0;
  }
  [[nodiscard]] bool runs(int i) const noexcept { return pids_[static_cast<std::size_t>(i)] != 0; }
  // Whether it answers, and has all frames of its streams.
  [[nodiscard]] bool is_healthy(int i) const {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = test::loopback(monitors_[static_cast<std::size_t>(i)]);
    constexpr timeval longest{.tv_sec = 2, .tv_usec = 0};
    constexpr std::string_view request = "GET /healthz HTTP/1.0\r\n\r\n";
    std::array<char, 512> answer{};
    const bool asked = fd >= 0 && ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest) == 0 &&
                       ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
                       ::write(fd, request.data(), request.size()) == static_cast<ssize_t>(request.size());
    const ssize_t size = asked ? ::read(fd, answer.data(), answer.size()) : 0;
    if (fd >= 0) ::close(fd);
    return size > 0 && std::string_view{answer.data(), static_cast<std::size_t>(size)}.contains(" 200 ");
  }
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_.path(); }
  [[nodiscard]] std::string logs() const {
    std::string text;
    for (int i = 0; i < 3; ++i) {
      std::ifstream in{log(i)};
      const std::string all{std::istreambuf_iterator<char>{in}, {}};
      text += "  server n" + std::to_string(i) + ":\n" + (all.size() > 2000 ? all.substr(all.size() - 2000) : all);
    }
    return text;
  }

 private:
  [[nodiscard]] std::string configuration(int i) const { return folder_.file("n" + std::to_string(i) + ".conf"); }
  [[nodiscard]] std::string log(int i) const { return folder_.file("n" + std::to_string(i) + ".log"); }

  // If the others have no route to a server, they connect to its advertised address, past the relays. Nothing listens
  // on this address.
  void write_configuration(int i, const RoutePort& route_port) const {
    const auto at = static_cast<std::size_t>(i);
    std::ofstream out{configuration(i)};
    out << "server_name: n" << i << "\nlisten: \"127.0.0.1:" << clients_[at]
        << "\"\nhttp: \"127.0.0.1:" << monitors_[at] << "\"\nlog_file: \"" << log(i) << "\"\njetstream { store_dir: \""
        << folder_.file(std::to_string(i))
        << "\", max_mem: 64MB, max_file: 4GB }\ncluster { name: nfx, listen: \"127.0.0.1:" << routes_[at]
        << "\", no_advertise: true, advertise: \"127.0.0.1:1\", routes: [";
    for (const int to : {(i + 1) % 3, (i + 2) % 3})
      out << "\"nats://127.0.0.1:" << route_port(i, to, routes_[static_cast<std::size_t>(to)]) << "\", ";
    out << "] }\naccounts { nfx: { jetstream: enabled, users: [ {user: gateway, password: secret}, "
           "{user: reader, password: secret, permissions: { publish: { deny: [\"TEST.s.>\"] } } } ] } }\n";
  }

  TemporaryFolder folder_;
  std::vector<std::uint16_t> clients_, routes_, monitors_;
  std::array<pid_t, 3> pids_{};
};

}  // namespace nfx::test
