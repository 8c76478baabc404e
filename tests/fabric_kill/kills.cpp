// The driver: starts both sides, waits for their progress, kills them, and compares their accounts.
#include "fabric_kill/kills.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "fabric_kill/side.hpp"
#include "transport/loopback.hpp"

namespace nfx::fabric_kill {
namespace {

using namespace std::chrono_literals;

// A healthy run takes milliseconds; this limit is for busy machines.
constexpr auto patience = 60s;

class Pair {
 public:
  Pair(Accounts& accounts, std::vector<std::string> places, std::uint64_t seed)
      : accounts_(accounts), places_(std::move(places)), random_(seed) {}
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() {
    for (pid_t& side : sides_) kill(side);
  }

  void start() {
    for (std::size_t i = 0; i < 2; ++i) {
      if (sides_[i] == 0) sides_[i] = fork_side({.sends = i == 0, .places = places_, .seed = random_()});
    }
  }
  // Waits for at least `reports` more of either side; false if they do not come.
  bool wait_for(std::uint64_t reports) {
    const std::uint64_t sender = accounts_.sender.progress + reports, receiver = accounts_.receiver.progress + reports;
    const auto limit = std::chrono::steady_clock::now() + patience;
    while (accounts_.sender.progress < sender || accounts_.receiver.progress < receiver) {
      if (std::chrono::steady_clock::now() > limit || has_ended()) return false;
      std::this_thread::yield();
    }
    return true;
  }
  unsigned kill_some() {
    const auto which = random_() % 4;  // one of them, or both
    if (which != 0) kill(sides_[0]);
    if (which != 1) kill(sides_[1]);
    return which < 2 ? 1 : 2;
  }
  std::mt19937_64& random() noexcept { return random_; }

 private:
  pid_t fork_side(const SideOptions& options) {
    std::fflush(stdout);
    const pid_t parent = ::getpid();
    const pid_t side = ::fork();
    if (side != 0) return side;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::_exit(run_side(options, accounts_));
  }
  static void kill(pid_t& side) {
    if (side <= 0) return;
    ::kill(side, SIGKILL);
    ::waitpid(side, nullptr, 0);
    side = 0;
  }
  bool has_ended() {
    for (pid_t& side : sides_) {
      if (side > 0 && ::waitpid(side, nullptr, WNOHANG) == side) {
        side = 0;
        return true;
      }
    }
    return false;
  }

  Accounts& accounts_;
  std::vector<std::string> places_;
  std::mt19937_64 random_;
  std::array<pid_t, 2> sides_{};
};

// Whether the receiver has everything that the sender reported. Empty if it does.
std::string audit(const Accounts& accounts) {
  for (const SideAccount* side : {&accounts.sender, &accounts.receiver}) {
    if (side->violations != 0) return std::string{side->violation.data()};
  }
  const std::uint64_t starts = accounts.sender.starts;
  for (std::uint64_t session = 1; session <= starts; ++session) {
    // Read first, because both may be running: everything that the sender has now, the receiver had before.
    const SideAccount::Session& sent = accounts.sender.by_session[session - 1];
    const std::uint64_t records = sent.records;
    std::array<std::uint64_t, transfers / 64> missing;
    for (std::size_t i = 0; i < missing.size(); ++i) missing[i] = sent.complete[i];
    std::uint64_t delivered = 0;
    for (std::uint64_t i = 0; i < accounts.receiver.starts; ++i) {
      const SideAccount::Session& received = accounts.receiver.by_session[i];
      if (received.of != session) continue;
      delivered = std::max(delivered, received.records.load());
      for (std::size_t k = 0; k < missing.size(); ++k) missing[k] &= ~received.complete[k].load();
    }
    if (std::ranges::any_of(missing, [](std::uint64_t bits) { return bits != 0; }))
      return "the sender reported a transfer that the receiver does not have";
    if (records > delivered) return "a record is acknowledged that the receiver does not have";
  }
  return {};
}

// Their accounts, in shared memory that outlives both sides.
class SharedAccounts {
 public:
  SharedAccounts() {
    void* const memory = ::mmap(nullptr, sizeof(Accounts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no memory for the accounts");
    accounts_ = new (memory) Accounts;
  }
  SharedAccounts(const SharedAccounts&) = delete;
  SharedAccounts& operator=(const SharedAccounts&) = delete;
  ~SharedAccounts() { ::munmap(accounts_, sizeof(Accounts)); }
  [[nodiscard]] Accounts& operator*() const noexcept { return *accounts_; }

 private:
  Accounts* accounts_ = nullptr;
};

class SocketFolder {
 public:
  SocketFolder() : path_((std::filesystem::temp_directory_path() / "nfx-fabric-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no folder for the sockets in " + path_);
  }
  SocketFolder(const SocketFolder&) = delete;
  SocketFolder& operator=(const SocketFolder&) = delete;
  ~SocketFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

std::vector<std::string> places_of(const std::string& rails, const std::string& folder) {
  std::vector<std::string> places;
  std::istringstream words{rails};
  for (std::string word; std::getline(words, word, ',');) {
    if (word != "shm" && word != "tcp")
      throw std::runtime_error("--rails " + word + ": write shm, tcp, or several of them with commas");
    places.push_back(word == "shm" ? folder + "/rail." + std::to_string(places.size())
                                   : "127.0.0.1:" + std::to_string(test::free_port()));
  }
  return places;
}

// The finding; empty if there is none.
std::string kill_all(const KillOptions& options, Pair& pair, const Accounts& accounts, std::uint64_t& done) {
  while (done < options.kills) {
    pair.start();
    // Sometimes before they have connected.
    if (pair.random()() % 4 != 0 && !pair.wait_for(pair.random()() % 40 + 1)) return "no progress in 60 s";
    done += pair.kill_some();
    if (std::string finding = audit(accounts); !finding.empty()) return finding;
  }
  pair.start();
  return pair.wait_for(100) ? audit(accounts) : "no progress in 60 s after the last kill";
}

}  // namespace

KillResult run_kills(const KillOptions& options) {
  const SharedAccounts shared;
  const Accounts& accounts = *shared;
  const SocketFolder folder;
  Pair pair{*shared, places_of(options.rails, folder.path()), options.seed};
  KillResult result;
  result.finding = kill_all(options, pair, accounts, result.kills);
  result.sender_sessions = accounts.sender.starts;
  result.receiver_sessions = accounts.receiver.starts;
  result.complete = accounts.receiver.complete;
  result.failed = accounts.receiver.failed;
  result.losses = accounts.sender.losses + accounts.receiver.losses;
  if (result.finding.empty() && result.complete == 0) result.finding = "nothing was received: nothing was tested";
  return result;
}

}  // namespace nfx::fabric_kill
