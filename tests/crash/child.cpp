// Starts a party as a child process, reads its words from a pipe with a deadline, and kills it.
#include "child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace nfx::crash {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error{errno, std::generic_category(), what}; }

int milliseconds_until(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return left < 0 ? 0 : static_cast<int>(left);
}

}  // namespace

void Child::start(const PartyOptions& options) {
  log_ = options.folder / "log";
  const std::vector<std::string> words{"crash",        "party",
                                       "--role",       std::string{to_string(options.role)},
                                       "--port",       std::to_string(options.port),
                                       "--folder",     options.folder,
                                       "--store",      options.store,
                                       "--ring",       options.ring,
                                       "--durability", std::string{to_string(options.durability)},
                                       "--seed",       std::to_string(options.seed),
                                       "--orders",     std::to_string(options.orders),
                                       "--text-size",  std::to_string(options.text_size),
                                       "--small",      options.small ? "true" : "false"};
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe2");
  const int log = ::open(log_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (log < 0) fail(log_.c_str());
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) fail("fork");
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent || ::dup2(ends[1], STDOUT_FILENO) < 0 || ::dup2(log, STDERR_FILENO) < 0) ::_exit(126);
    ::execv("/proc/self/exe", arguments.data());
    ::_exit(127);
  }
  ::close(log);
  ::close(ends[1]);
  output_ = ends[0];
  ::fcntl(output_, F_SETFL, O_NONBLOCK);
}

void Child::forget() noexcept {
  ::close(output_);
  pid_ = output_ = -1;
}

void Child::kill() noexcept {
  if (!running()) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  forget();
}

void Child::stop(Deadline deadline) {
  ::kill(pid_, SIGTERM);
  std::array<char, 64> words{};
  while (true) {
    pollfd ended{output_, POLLIN, 0};
    ::poll(&ended, 1, milliseconds_until(deadline));
    const ssize_t size = ::read(output_, words.data(), words.size());
    if (size == 0) break;
    if (size < 0 && std::chrono::steady_clock::now() >= deadline)
      throw std::runtime_error(name_ + " does not end after SIGTERM: see " + log_.string());
  }
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  forget();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error(name_ + " ended badly after SIGTERM, wait status " + std::to_string(status) + ": see " +
                             log_.string());
}

std::optional<Word> Child::word() {
  char byte = 0;
  const ssize_t size = ::read(output_, &byte, 1);
  if (size == 1) return Word{byte};
  if (size < 0) return std::nullopt;
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  forget();
  throw std::runtime_error(name_ + " ended by itself, wait status " + std::to_string(status) + ": see " +
                           log_.string());
}

void wait_for_words(const Child& one, const Child& other, Deadline deadline) {
  // A negative descriptor is ignored. Deadlines below a millisecond matter here, hence ppoll.
  std::array<pollfd, 2> ends{{{one.output(), POLLIN, 0}, {other.output(), POLLIN, 0}}};
  const auto left = std::max<std::chrono::nanoseconds>(deadline - std::chrono::steady_clock::now(), {});
  const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
  const timespec wait{seconds.count(), (left - seconds).count()};
  ::ppoll(ends.data(), ends.size(), &wait, nullptr);
}

}  // namespace nfx::crash
