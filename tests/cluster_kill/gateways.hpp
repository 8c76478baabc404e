// Two gateways as processes, which are this program with the command `gateway`: started, killed, paused, and never left
// running. Their output shows who owns the session.
// Thread: one. Errors: std::runtime_error.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

namespace nfx::cluster_kill {

// The gateway's program: sends each message back, once. Serves until SIGTERM; returns an exit code.
int run_gateway(const std::string& file);

struct GatewayOptions {
  std::filesystem::path folder;
  std::array<std::string, 2> servers;  // of each gateway, with commas between them
  std::string stream;
  std::string durability = "replicated";
  unsigned lease_s = 1;
  std::uint16_t connect = 0;  // the trader's port, for initiators; 0: the gateways listen
};

class Gateways {
 public:
  static constexpr int count = 2;

  explicit Gateways(const GatewayOptions& options);
  ~Gateways();
  Gateways(const Gateways&) = delete;
  Gateways& operator=(const Gateways&) = delete;

  [[nodiscard]] std::uint16_t port(int gateway) const noexcept { return ports_[at(gateway)]; }
  void start(int gateway);
  void kill(int gateway);         // like kill -9; waits until it has ended
  void pause(int gateway);        // SIGSTOP
  void resume(int gateway);       // SIGCONT
  void terminate(int gateway);    // SIGTERM, without waiting
  void forget_disk(int gateway);  // deletes journals and rings of a gateway that is not running
  [[nodiscard]] bool runs(int gateway);
  [[nodiscard]] bool ended(int gateway);  // after terminate()

  // The gateway that last took over the session; -1: none yet.
  [[nodiscard]] int owner();
  // The number of lines with this text since its last start.
  [[nodiscard]] std::size_t lines_with(int gateway, const std::string& text) const;
  [[nodiscard]] std::string last_lines(int gateway) const;
  // The cost of this gateway's last takeover: "N frames read, T ms", and anything unusual.
  [[nodiscard]] std::string last_takeover(int gateway) const;

 private:
  static std::size_t at(int gateway) noexcept { return static_cast<std::size_t>(gateway); }
  [[nodiscard]] std::filesystem::path folder(int gateway) const;
  [[nodiscard]] std::filesystem::path rings(int gateway) const;
  [[nodiscard]] std::filesystem::path log(int gateway) const;
  void configure(int gateway) const;

  GatewayOptions options_;
  std::array<std::uint16_t, count> ports_{};
  std::array<pid_t, count> pids_{};
};

}  // namespace nfx::cluster_kill
