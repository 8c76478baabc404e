// Starts and ends gateways, and reads their lines.
#include "gateways.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include "nats_cluster/three_servers.hpp"
#include "pause_process.hpp"

namespace nfx::cluster_kill {
namespace {

constexpr const char* names[] = {"a", "b"};
constexpr std::string_view taken_over = "owned by this gateway from epoch ";

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

}  // namespace

Gateways::Gateways(const GatewayOptions& options) : options_(options) {
  for (int i = 0; i < count; ++i) {
    ports_[at(i)] = test::free_port();
    std::filesystem::create_directories(folder(i));
  }
  for (int i = 0; i < count; ++i) configure(i);
}

Gateways::~Gateways() {
  std::error_code ignored;
  for (int i = 0; i < count; ++i) {
    kill(i);
    std::filesystem::remove_all(rings(i), ignored);
  }
}

std::filesystem::path Gateways::folder(int gateway) const { return options_.folder / names[gateway]; }
std::filesystem::path Gateways::log(int gateway) const { return folder(gateway) / "lines"; }
std::filesystem::path Gateways::rings(int gateway) const {
  return std::filesystem::path{"/dev/shm"} / ("nfx-cluster-kill-" + std::to_string(::getpid()) + "-" + names[gateway]);
}

void Gateways::configure(int gateway) const {
  std::ofstream out{folder(gateway) / "gateway.toml"};
  out << "[engine]\nidle = \"block\"\n[cluster]\nservers = [";
  std::string rest = options_.servers[at(gateway)];
  for (std::size_t comma = 0; comma != std::string::npos; rest.erase(0, comma + 1)) {
    comma = rest.find(',');
    out << '"' << rest.substr(0, comma) << (comma == std::string::npos ? "\"" : "\", ");
    if (comma == std::string::npos) break;
  }
  out << "]\nstream = \"" << options_.stream << "\"\ngateway = \"" << names[gateway]
      << "\"\ngateways = [\"a\", \"b\"]\nlease_s = " << options_.lease_s
      << "\nlost_after_ms = 30000\n"
         "[[session]]\nbegin_string = \"FIX.4.4\"\nsender_comp_id = \"VENUE\"\ntarget_comp_id = \"TRADER\"\n"
         "dictionary = \"none\"\n";
  if (options_.connect != 0)
    out << "role = \"initiator\"\nheartbeat_interval_s = 1\nreconnect_delay_ms = 20\nreconnect_delay_max_ms = 100\n"
           "connect = \"127.0.0.1:"
        << options_.connect;
  else
    out << "role = \"acceptor\"\nlisten = \"127.0.0.1:" << ports_[at(gateway)];
  out << "\"\ndurability = \"" << options_.durability << "\"\nstore_directory = \""
      << (folder(gateway) / "store").string() << "\"\nstore_ring_directory = \"" << rings(gateway).string()
      << "\"\nresend_timeout_s = 2\nlogout_timeout_s = 2\n";
}

void Gateways::start(int gateway) {
  if (runs(gateway)) return;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string file = (folder(gateway) / "gateway.toml").string();
  std::array<char*, 4> arguments{const_cast<char*>(program.c_str()), const_cast<char*>("gateway"),
                                 const_cast<char*>(file.c_str()), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  const std::string lines = log(gateway).string();
  ::posix_spawn_file_actions_addopen(&actions, 1, lines.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
  const int error = ::posix_spawn(&pids_[at(gateway)], program.c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return;
  pids_[at(gateway)] = 0;
  throw std::runtime_error(program + " cannot be started");
}

void Gateways::kill(int gateway) {
  pid_t& pid = pids_[at(gateway)];
  if (pid == 0) return;
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  pid = 0;
}

void Gateways::pause(int gateway) {
  if (pids_[at(gateway)] != 0) test::pause_process(pids_[at(gateway)]);
}
void Gateways::resume(int gateway) {
  if (pids_[at(gateway)] != 0) ::kill(pids_[at(gateway)], SIGCONT);
}
void Gateways::terminate(int gateway) {
  if (pids_[at(gateway)] != 0) ::kill(pids_[at(gateway)], SIGTERM);
}

void Gateways::forget_disk(int gateway) {
  std::filesystem::remove_all(folder(gateway) / "store");
  std::filesystem::remove_all(rings(gateway));
}

bool Gateways::runs(int gateway) { return pids_[at(gateway)] != 0 && !ended(gateway); }

bool Gateways::ended(int gateway) {
  pid_t& pid = pids_[at(gateway)];
  if (pid == 0) return true;
  if (::waitpid(pid, nullptr, WNOHANG) != pid) return false;
  pid = 0;
  return true;
}

int Gateways::owner() {
  int owner = -1;
  unsigned long long highest = 0;
  for (int i = 0; i < count; ++i) {
    const std::string text = text_of(log(i));
    const std::size_t found = text.rfind(taken_over);
    if (found == std::string::npos) continue;
    const unsigned long long epoch = std::strtoull(text.c_str() + found + taken_over.size(), nullptr, 10);
    if (epoch > highest) {
      highest = epoch;
      owner = i;
    }
  }
  return owner;
}

std::size_t Gateways::lines_with(int gateway, const std::string& wanted) const {
  const std::string text = text_of(log(gateway));
  std::size_t found = 0;
  for (std::size_t at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1)) ++found;
  return found;
}

std::string Gateways::last_takeover(int gateway) const {
  const std::string text = text_of(log(gateway));
  const std::size_t found = text.rfind(taken_over), cost = text.find("; ", found);
  if (found == std::string::npos || cost == std::string::npos) return {};
  return text.substr(cost + 2, text.find('\n', cost) - cost - 2);
}

std::string Gateways::last_lines(int gateway) const {
  const std::string text = text_of(log(gateway));
  constexpr std::size_t most = 2500;
  return std::string{"  gateway "} + names[gateway] + ":\n" +
         (text.size() > most ? text.substr(text.size() - most) : text);
}

}  // namespace nfx::cluster_kill
