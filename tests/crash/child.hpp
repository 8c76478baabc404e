// A party as a child process: started, read from, killed, and never left running.
// Thread: one. Errors: std::runtime_error.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "party.hpp"

namespace nfx::crash {

using Deadline = std::chrono::steady_clock::time_point;

[[nodiscard]] inline Deadline in(std::chrono::microseconds time) { return std::chrono::steady_clock::now() + time; }

class Child {
 public:
  explicit Child(std::string name) : name_(std::move(name)) {}
  ~Child() { kill(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void start(const PartyOptions& options);
  void kill() noexcept;  // like kill -9; waits until it has ended
  // SIGTERM; throws if it has not ended in order by the deadline.
  void stop(Deadline deadline);

  [[nodiscard]] bool running() const noexcept { return pid_ > 0; }
  [[nodiscard]] int output() const noexcept { return output_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // The next word that has already arrived; throws if the process has ended by itself.
  [[nodiscard]] std::optional<Word> word();

 private:
  void forget() noexcept;

  std::string name_;
  std::filesystem::path log_;
  pid_t pid_ = -1;
  int output_ = -1;
};

// Sleeps until one of them writes something or until the deadline.
void wait_for_words(const Child& one, const Child& other, Deadline deadline);

}  // namespace nfx::crash
