// Writes the configuration of the servers and runs their processes.
#include "cluster/local_cluster.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "base/error_text.hpp"

namespace nfx::app::cluster_tools {
namespace {

namespace fs = std::filesystem;

constexpr int needed_major = 2, needed_minor = 12;
constexpr int stop_polls = 1000, stop_poll_ms = 10;
// Servers that elect a leader, as after the loss of one, answer no request until then: 4 to 9 s, more on a busy host.
constexpr std::chrono::seconds election_most{30};

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }
[[noreturn]] void fail_with_errno(const std::string& what) { fail(what + ": " + std::strerror(errno)); }

// Runs in the child between fork and exec. Ends with its parent, however that one ends.
[[noreturn]] void become(const char* const* arguments, pid_t parent, int output) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::getppid() != parent) ::_exit(1);
  // A signal of the terminal is for the parent, which then stops its servers in order.
  ::setpgid(0, 0);
  const int input = ::open("/dev/null", O_RDONLY);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::execv(arguments[0], const_cast<char* const*>(arguments));
  ::_exit(127);
}

// The output of `program --version`; empty when it cannot be run.
std::string version_output(const std::string& program) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail_with_errno("pipe");
  const std::array<const char*, 3> arguments{program.c_str(), "--version", nullptr};
  const pid_t parent = ::getpid(), pid = ::fork();
  if (pid == 0) become(arguments.data(), parent, ends[1]);
  ::close(ends[1]);
  std::string text;
  std::array<char, 256> piece;
  constexpr std::size_t most = 4096;
  for (ssize_t n = 1; pid > 0 && n > 0 && text.size() < most;) {
    n = ::read(ends[0], piece.data(), piece.size());
    if (n < 0 && errno == EINTR)
      n = 1;
    else if (n > 0)
      text.append(piece.data(), static_cast<std::size_t>(n));
  }
  ::close(ends[0]);
  if (pid > 0) {
    ::kill(pid, SIGKILL);  // one that prints without end
    ::waitpid(pid, nullptr, 0);
  }
  return text;
}

// "2.12.2" of "nats-server: v2.12.2"; empty for another program.
std::string version_in(std::string_view text) {
  constexpr std::string_view before = "nats-server: v";
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  return std::string{text.substr(0, text.find_first_not_of("0123456789."))};
}

bool is_new_enough(std::string_view version) {
  int major = 0, minor = 0;
  const char* end = version.data() + version.size();
  const auto [point, error] = std::from_chars(version.data(), end, major);
  if (error != std::errc{} || point == end || *point != '.') return false;
  if (std::from_chars(point + 1, end, minor).ec != std::errc{}) return false;
  return major > needed_major || (major == needed_major && minor >= needed_minor);
}

std::vector<std::string> programs_in_path() {
  std::vector<std::string> found;
  const char* path = std::getenv("PATH");
  std::string rest = path != nullptr ? path : "";
  if (const char* home = std::getenv("HOME"); home != nullptr) rest += std::string{":"} + home + "/go/bin";
  for (std::size_t begin = 0; begin <= rest.size();) {
    const std::size_t end = std::min(rest.find(':', begin), rest.size());
    const std::string program = rest.substr(begin, end - begin) + "/nats-server";
    if (end > begin && ::access(program.c_str(), X_OK) == 0) found.push_back(program);
    begin = end + 1;
  }
  return found;
}

// A socket that is bound to this port of loopback; -1 when another process has it. 0: any free one.
int bound_socket(std::uint16_t& port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) fail_with_errno("socket");
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(fd, 1) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    ::close(fd);
    return -1;
  }
  port = ntohs(address.sin_port);
  return fd;
}

// Why a stream cannot be written, or is not complete; empty: neither.
std::string stream_problem(const std::vector<nats::CheckLine>& lines) {
  for (const nats::CheckLine& line : lines)
    if (!line.good && (line.text.contains("cannot be written") || line.text.contains("counts as missing")))
      return line.text;
  return {};
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

ServerProgram find_nats_server(const std::string& chosen) {
  const std::string remedy = "; ./dev deps nats builds one into ~/go/bin, or name one with --server";
  const std::vector<std::string> programs = chosen.empty() ? programs_in_path() : std::vector{chosen};
  if (programs.empty()) fail("there is no nats-server in PATH or ~/go/bin" + remedy);
  std::string old;
  for (const std::string& program : programs) {
    if (::access(program.c_str(), X_OK) != 0) fail(program + " (--server) is not a program that this user can run");
    const std::string version = version_in(version_output(program));
    if (is_new_enough(version)) return {program, version};
    if (old.empty()) old = program + (version.empty() ? " is not a nats-server" : " is nats-server " + version);
  }
  fail(old + ", and a cluster needs 2.12 or later, whose conditional publishes have one winner" + remedy);
}

LocalCluster::LocalCluster(const LocalClusterOptions& options) : options_(options) {
  try {
    make_folder();
    certificates_ = make_certificates(folder_, {"localhost", "127.0.0.1"});
    if (!fs::exists(folder_ / "accounts.conf")) make_users(folder_, options_.stream);
    choose_ports();
    for (const LocalServer& server : servers_) write_configuration(server);
    for (LocalServer& server : servers_) start(server);
  } catch (...) {
    stop();
    throw;
  }
}

LocalCluster::~LocalCluster() { stop(); }

void LocalCluster::make_folder() {
  std::error_code error;
  if (options_.folder.empty()) {
    std::string name = (fs::temp_directory_path() / "nfx-cluster-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) fail(cannot("make folder", name, errno));
    folder_ = name;
    is_temporary_ = true;
  } else {
    const bool is_new = fs::create_directories(options_.folder, error);
    if (!fs::is_directory(options_.folder)) fail("--folder: " + cannot("make folder", options_.folder, error.value()));
    folder_ = fs::absolute(options_.folder);
    if (is_new) fs::permissions(folder_, fs::perms::owner_all, error);
  }
  // Two clusters with one store would destroy it.
  lock_ = ::open((folder_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_ < 0) fail("--folder: " + cannot("write", folder_, errno));
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0)
    fail("--folder: " + folder_.string() + " is in use by another cluster; end that one, or choose another folder");
}

void LocalCluster::choose_ports() {
  const std::uint32_t count = options_.servers;
  if (options_.port != 0 && options_.port > 65536 - 2 * count)
    fail("port " + std::to_string(options_.port) + " (--port): the cluster uses " + std::to_string(2 * count) +
         " ports from there on, up to 65535");
  std::vector<int> held;
  std::string taken;
  std::vector<std::uint16_t> ports;
  for (std::uint32_t i = 0; i < 2 * count && taken.empty(); ++i) {
    auto port = static_cast<std::uint16_t>(options_.port == 0 ? 0 : options_.port + i);
    const int fd = bound_socket(port);
    if (fd >= 0)
      held.push_back(fd);
    else
      taken = std::to_string(port);
    ports.push_back(port);
  }
  for (const int fd : held) ::close(fd);
  if (!taken.empty())
    fail("127.0.0.1:" + taken + " is in use: choose other ports with --port (0: free ones), or end what listens there");
  for (std::uint32_t i = 0; i < count; ++i)
    servers_.push_back({.name = "n" + std::to_string(i + 1), .port = ports[i], .route_port = ports[count + i]});
}

void LocalCluster::write_configuration(const LocalServer& server) const {
  const auto quoted = [&](const fs::path& path) { return "\"" + path.string() + "\""; };
  const auto tls = [&](bool mutual) {
    return "tls { cert_file: " + quoted(certificates_.certificate) + ", key_file: " + quoted(certificates_.key) +
           (mutual ? ", ca_file: " + quoted(certificates_.authority) + ", verify: true" : "") + ", timeout: 30 }";
  };
  std::string text = "server_name: " + server.name + "\nlisten: \"127.0.0.1:" + std::to_string(server.port) +
                     "\"\nlog_file: " + quoted(log_of(server)) +
                     "\nlogfile_size_limit: 16MB\npid_file: " + quoted(folder_ / (server.name + ".pid")) + "\n" +
                     tls(false) + "\njetstream { store_dir: " + quoted(folder_ / server.name) +
                     ", max_mem: 64MB, max_file: " + std::to_string(options_.store_bytes_max) + " }\n";
  // A single server is no cluster: with routes to no other server it would wait for a leader for ever.
  if (servers_.size() > 1) {
    text += "cluster {\n  name: nexusfix\n  listen: \"127.0.0.1:" + std::to_string(server.route_port) + "\"\n  " +
            tls(true) + "\n  routes: [";
    for (const LocalServer& other : servers_)
      text +=
          (&other == &servers_.front() ? "" : ", ") + quoted("nats://127.0.0.1:" + std::to_string(other.route_port));
    text += "]\n}\n";
  }
  // On a busy host a handshake takes longer than the two seconds that are usual.
  text += "authorization { timeout: 30 }\ninclude accounts.conf\n";
  const fs::path path = folder_ / (server.name + ".conf");
  std::ofstream out{path, std::ios::trunc};
  out << text;
  out.close();
  if (!out) fail("cannot write " + path.string());
}

void LocalCluster::start(LocalServer& server) const {
  const std::string configuration = (folder_ / (server.name + ".conf")).string();
  const std::array<const char*, 4> arguments{options_.program.path.c_str(), "-c", configuration.c_str(), nullptr};
  const int log = ::open(log_of(server).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0) fail_with_errno(log_of(server).string());
  const pid_t parent = ::getpid(), pid = ::fork();
  if (pid == 0) become(arguments.data(), parent, log);
  const int error = errno;
  ::close(log);
  if (pid < 0) fail("cannot start " + options_.program.path + ": " + std::strerror(error));
  server.pid = pid;
}

bool LocalCluster::make_streams(const nats::StreamLimits& limits, Duration most, const std::function<bool()>& give_up,
                                const std::function<void(const std::string&)>& waits) {
  nats::NatsOptions admin = client("admin");
  admin.timeout = std::chrono::seconds{2};
  const MonotonicTime end = std::chrono::steady_clock::now() + most;
  for (;;) {
    std::string error;
    try {
      nats::NatsStream stream{admin};
      stream.create(limits);
      // A stream from an earlier run elects its own leader after that.
      error = stream_problem(stream.check());
      if (error.empty()) return true;
    } catch (const nats::NatsError& failure) {
      error = failure.what();
    }
    if (const auto ended = take_ended()) fail("server " + ended->text + ": " + last_log_line(*ended->server));
    if (error.contains("already in use"))
      fail(error + ": the folder has a stream with other limits; use those, or another folder");
    if (std::chrono::steady_clock::now() > end) fail("no stream within --start-timeout: " + error);
    if (waits) waits(error);
    if (give_up()) return false;
  }
}

void LocalCluster::start_again(std::string_view name) {
  for (LocalServer& server : servers_)
    if (server.name == name && server.pid == 0) start(server);
}

std::optional<LocalCluster::Ended> LocalCluster::take_ended() {
  for (LocalServer& server : servers_) {
    int status = 0;
    if (server.pid == 0 || ::waitpid(server.pid, &status, WNOHANG) != server.pid) continue;
    const pid_t pid = std::exchange(server.pid, 0);
    return Ended{&server, server.name + " (127.0.0.1:" + std::to_string(server.port) + ", pid " + std::to_string(pid) +
                              ") " + how_it_ended(status)};
  }
  return std::nullopt;
}

std::uint32_t LocalCluster::running() const noexcept {
  std::uint32_t count = 0;
  for (const LocalServer& server : servers_) count += server.pid != 0 ? 1 : 0;
  return count;
}

std::string LocalCluster::url() const {
  std::string text;
  for (const LocalServer& server : servers_)
    text += (text.empty() ? "tls://127.0.0.1:" : ",tls://127.0.0.1:") + std::to_string(server.port);
  return text;
}

std::string LocalCluster::credentials(std::string_view user) const { return credentials_file(folder_, user).string(); }

nats::NatsOptions LocalCluster::client(std::string_view user) const {
  return {.url = url(),
          .credentials = credentials(user),
          .certificate_authority = authority(),
          .stream = options_.stream,
          .timeout = election_most};
}

std::string LocalCluster::last_log_line(const LocalServer& server) const {
  std::ifstream in{log_of(server)};
  std::string line, last;
  while (std::getline(in, line))
    if (!line.empty()) last = line;
  return last.empty() ? "its log is empty" : last;
}

void LocalCluster::stop() noexcept {
  for (const LocalServer& server : servers_)
    if (server.pid != 0) ::kill(server.pid, SIGTERM);
  for (LocalServer& server : servers_) {
    if (server.pid == 0) continue;
    bool ended = false;
    for (int i = 0; i < stop_polls && !ended; ++i) {
      ended = ::waitpid(server.pid, nullptr, WNOHANG) != 0;
      if (!ended) ::poll(nullptr, 0, stop_poll_ms);
    }
    if (!ended) {
      ::kill(server.pid, SIGKILL);
      ::waitpid(server.pid, nullptr, 0);
    }
    server.pid = 0;
  }
  if (lock_ >= 0) ::close(std::exchange(lock_, -1));
  std::error_code ignored;
  if (is_temporary_) fs::remove_all(folder_, ignored);
}

}  // namespace nfx::app::cluster_tools
