// Starts a counterparty's program, sends it commands, and waits for its event lines with a limit.
#include "peer_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

#include "pause_process.hpp"

namespace nfx::interop {
namespace {

[[noreturn]] void fail(int error, const char* what) { throw std::system_error(error, std::generic_category(), what); }

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

Pipe open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail(errno, "pipe2");
  return {ends[0], ends[1]};
}

void close_once(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

}  // namespace

PeerProcess::PeerProcess(std::string path, std::vector<std::string> arguments) {
  // A dead peer must show as a missing event, not end the test program.
  ::signal(SIGPIPE, SIG_IGN);
  Pipe to_peer = open_pipe();
  Pipe from_peer = open_pipe();
  // Space for some thousand events, so that a peer does not block while the test reads another peer.
  if (::fcntl(from_peer.write_end, F_SETPIPE_SZ, 1 << 20) < 0) fail(errno, "fcntl(F_SETPIPE_SZ)");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to_peer.read_end, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from_peer.write_end, STDOUT_FILENO);
  std::vector<char*> argv{path.data()};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const int error = ::posix_spawn(&pid_, path.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close_once(to_peer.read_end);
  close_once(from_peer.write_end);
  input_ = to_peer.write_end;
  output_ = from_peer.read_end;
  if (error != 0) {
    close_once(input_);
    close_once(output_);
    fail(error, path.c_str());
  }
}

PeerProcess::~PeerProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  close_once(input_);
  close_once(output_);
}

void PeerProcess::send_command(std::string_view command) {
  std::string line(command);
  line += '\n';
  std::string_view left = line;
  while (!left.empty()) {
    const ssize_t written = ::write(input_, left.data(), left.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) left.remove_prefix(static_cast<std::size_t>(written));
  }
}

void PeerProcess::freeze() {
  if (pid_ > 0) test::pause_process(pid_);
}

void PeerProcess::thaw() {
  if (pid_ > 0) ::kill(pid_, SIGCONT);
}

std::optional<std::string> PeerProcess::wait_for(std::string_view prefix, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  do {
    while (next_ < lines_.size()) {
      const std::string& line = lines_[next_++];
      if (line.starts_with(prefix)) return line;
    }
  } while (read_more(deadline));
  return std::nullopt;
}

void PeerProcess::read_available() {
  while (read_more(std::chrono::steady_clock::now())) {
  }
}

std::optional<int> PeerProcess::finish(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  close_once(input_);
  // The process holds the other end of this pipe until it ends, so the end of its output is its end.
  while (read_more(deadline)) {
  }
  if (pid_ <= 0 || output_ >= 0) return std::nullopt;
  int status = 0;
  if (::waitpid(std::exchange(pid_, -1), &status, 0) < 0 || !WIFEXITED(status)) return std::nullopt;
  return WEXITSTATUS(status);
}

std::vector<std::string> PeerProcess::events(std::string_view prefix) const {
  std::vector<std::string> found;
  std::ranges::copy_if(lines_, std::back_inserter(found),
                       [prefix](const std::string& line) { return line.starts_with(prefix); });
  return found;
}

std::size_t PeerProcess::count(std::string_view prefix) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(lines_, [prefix](const std::string& line) { return line.starts_with(prefix); }));
}

std::string PeerProcess::tail() const {
  constexpr std::size_t shown = 20;
  std::string text = "last events of the peer:\n";
  for (std::size_t i = lines_.size() - std::min(shown, lines_.size()); i < lines_.size(); ++i) {
    text += "  " + lines_[i] + '\n';
  }
  return text;
}

// False if nothing more arrived before the deadline, or ever will.
bool PeerProcess::read_more(std::chrono::steady_clock::time_point deadline) {
  if (output_ < 0) return false;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  pollfd output{output_, POLLIN, 0};
  const int ready = ::poll(&output, 1, static_cast<int>(std::max<decltype(left)>(left, 0)));
  if (ready < 0 && errno == EINTR) return true;
  if (ready <= 0) return false;
  std::array<char, 65536> chunk;
  const ssize_t got = ::read(output_, chunk.data(), chunk.size());
  if (got <= 0) {
    close_once(output_);
    return false;
  }
  partial_.append(chunk.data(), static_cast<std::size_t>(got));
  std::size_t begin = 0;
  for (std::size_t end = partial_.find('\n'); end != std::string::npos; end = partial_.find('\n', begin)) {
    lines_.push_back(partial_.substr(begin, end - begin));
    begin = end + 1;
  }
  partial_.erase(0, begin);
  return true;
}

std::string word(std::string_view line, std::size_t index) {
  std::istringstream words{std::string(line)};
  std::string found;
  for (std::size_t i = 0; i <= index; ++i) {
    if (!(words >> found)) return {};
  }
  return found;
}

}  // namespace nfx::interop
