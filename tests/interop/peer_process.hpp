// A counterparty's program as a child process: it takes commands on its standard input, and prints event lines.
// Thread: one. Every wait has a limit and ends early if the process ends. Errors: the constructor throws
// std::system_error; later a dead process shows as a missing event.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nfx::interop {

inline constexpr std::chrono::seconds event_limit{20};

class PeerProcess {
 public:
  // Starts the program at `path`. It inherits standard error.
  PeerProcess(std::string path, std::vector<std::string> arguments);
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;
  ~PeerProcess();

  void send_command(std::string_view command);

  // The next event line that starts with `prefix`; earlier ones count as read. Nothing if the limit passes or the
  // process ends first.
  [[nodiscard]] std::optional<std::string> wait_for(std::string_view prefix,
                                                    std::chrono::milliseconds limit = event_limit);

  // Stops the whole process, and lets it continue.
  void freeze();
  void thaw();

  // Reads its output so far without waiting, because a process whose output is not read would block.
  void read_available();

  // Closes its input, reads the rest of its output and returns its exit code; nothing if it does not end in time or was
  // ended by a signal.
  [[nodiscard]] std::optional<int> finish(std::chrono::milliseconds limit = event_limit);

  // Every line read so far that starts with `prefix`, including lines that were skipped.
  [[nodiscard]] std::vector<std::string> events(std::string_view prefix = {}) const;

  [[nodiscard]] std::size_t count(std::string_view prefix) const;

  // The last lines read, for the message of a failed assertion.
  [[nodiscard]] std::string tail() const;

 private:
  [[nodiscard]] bool read_more(std::chrono::steady_clock::time_point deadline);

  pid_t pid_ = -1;
  int input_ = -1;   // written by us
  int output_ = -1;  // read by us
  std::string partial_;
  std::vector<std::string> lines_;
  std::size_t next_ = 0;  // first line not yet checked by wait_for
};

// The word at `index` of an event line, where the event's name is 0; empty if there are fewer words.
[[nodiscard]] std::string word(std::string_view line, std::size_t index);

}  // namespace nfx::interop
