// nats-servers on this host as one JetStream cluster with TLS and users, for trials and tests.
// Thread: one, the first of the program, before others exist: the servers end with it. Cost: seconds until a leader is
// elected. Lifetime: the servers end with the object, and are killed by the kernel when this process is killed.
// Errors: std::runtime_error in one line, which names the program, port or folder.
//
//   folder   ca.pem server.pem server.key   certificates, made at each start
//            accounts.conf *.creds          users, made at the first start
//            nN.conf nN.log nN.pid nN/      configuration, log, process and store of server N
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/credentials.hpp"
#include "nats/nats_stream.hpp"

namespace nfx::app::cluster_tools {

// The program to run as nats-server: `chosen`, or the first one in PATH or ~/go/bin that is new enough.
struct ServerProgram {
  std::string path;
  std::string version;  // "2.12.2"
};
[[nodiscard]] ServerProgram find_nats_server(const std::string& chosen);

struct LocalClusterOptions {
  ServerProgram program;
  std::filesystem::path folder;  // empty: a temporary one, which is removed at the end
  std::uint32_t servers = 3;
  std::uint16_t port = 4222;  // of the first server; the others follow. 0: free ones
  std::string stream = "NEXUSFIX";
  std::uint64_t store_bytes_max = std::uint64_t{4} << 30;  // of each server
};

struct LocalServer {
  std::string name;
  std::uint16_t port = 0;        // of clients
  std::uint16_t route_port = 0;  // of the other servers
  pid_t pid = 0;                 // 0: it has ended
};

class LocalCluster {
 public:
  // Starts the processes; they have to elect a leader before a stream can be made.
  explicit LocalCluster(const LocalClusterOptions& options);
  ~LocalCluster();
  LocalCluster(const LocalCluster&) = delete;
  LocalCluster& operator=(const LocalCluster&) = delete;

  // Makes both streams as soon as the servers have elected who may, and waits until they can be written, and all
  // replicas have them. `give_up` is
  // called between attempts, and waits a moment; false: it returned true. Throws when a server ends, or after this
  // time.
  bool make_streams(const nats::StreamLimits& limits, Duration most, const std::function<bool()>& give_up,
                    const std::function<void(const std::string& why)>& waits = {});

  struct Ended {
    const LocalServer* server = nullptr;
    std::string text;  // "n2 (127.0.0.1:4223, pid 17) was killed by signal 9"
  };
  // A server that has ended starts again, with what it had stored.
  void start_again(std::string_view name);
  // A server that has ended since the last call.
  [[nodiscard]] std::optional<Ended> take_ended();
  [[nodiscard]] std::uint32_t running() const noexcept;

  [[nodiscard]] const std::vector<LocalServer>& servers() const noexcept { return servers_; }
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
  [[nodiscard]] std::string url() const;  // of all servers, with commas between them
  [[nodiscard]] std::string authority() const { return certificates_.authority.string(); }
  [[nodiscard]] std::string credentials(std::string_view user) const;
  [[nodiscard]] nats::NatsOptions client(std::string_view user) const;
  [[nodiscard]] std::filesystem::path log_of(const LocalServer& server) const {
    return folder_ / (server.name + ".log");
  }
  [[nodiscard]] std::string last_log_line(const LocalServer& server) const;

  // SIGTERM, and SIGKILL for what has not ended after some seconds.
  void stop() noexcept;

 private:
  void make_folder();
  void choose_ports();
  void write_configuration(const LocalServer& server) const;
  void start(LocalServer& server) const;

  LocalClusterOptions options_;
  std::filesystem::path folder_;
  bool is_temporary_ = false;
  int lock_ = -1;
  CertificateFiles certificates_;
  std::vector<LocalServer> servers_;
};

}  // namespace nfx::app::cluster_tools
