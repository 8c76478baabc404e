// Requests snapshots of a running engine, on a separate thread if the terminal must not wait for the engine.
// Thread: Feed's functions from one thread; a thread of its own makes the requests. Cost: three or four requests for
// each snapshot, over one connection. Lifetime: the dictionaries belong to the requesting thread. Errors: if an engine
// does not answer, the snapshot has the reason; the next one tries again.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <thread>
#include <vector>

#include "decode/dictionaries.hpp"
#include "nexusfix/control/client.hpp"
#include "top/snapshot.hpp"
#include "top/view.hpp"

namespace nfx::app::top {

// The requested part of the engine's state.
struct Wanted {
  View view = View::sessions;
  std::string session;  // for View::messages
  LatencyWindow window = LatencyWindow::ten_seconds;
  friend bool operator==(const Wanted&, const Wanted&) = default;
};

class Asker {
 public:
  static constexpr std::size_t most_messages = 256;  // remembered per session

  // Throws DictionaryError for an unusable file.
  Asker(ControlAddress address, const std::vector<std::string>& dictionaries);
  // Includes rates since the previous snapshot, if that one is from the same engine.
  [[nodiscard]] Snapshot ask(const Wanted& wanted);
  [[nodiscard]] int exit_code() const noexcept { return exit_code_; }  // of the last failed request

 private:
  [[nodiscard]] bool get(const std::string& target, nlohmann::ordered_json& json, Snapshot& snapshot);
  void ask_messages(const std::string& session, Snapshot& snapshot);

  ControlClient client_;
  Dictionaries dictionaries_;
  Snapshot before_;
  int exit_code_ = 0;
};

class Feed {
 public:
  Feed(Asker& asker, Duration interval);
  ~Feed();
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  // Shows something else from now on, and requests it immediately.
  void want(const Wanted& wanted);
  // The latest snapshot; returns the same object until there is a new one.
  [[nodiscard]] std::shared_ptr<const Snapshot> latest();
  // A descriptor that is readable when there is a snapshot that latest() has not returned.
  [[nodiscard]] int changed_fd() const noexcept { return changed_fd_; }

 private:
  void run();

  Asker& asker_;
  const Duration interval_;
  const int changed_fd_;  // an eventfd
  std::mutex mutex_;
  std::condition_variable changed_;
  Wanted wanted_;
  bool wants_now_ = true;
  bool stop_ = false;
  std::shared_ptr<const Snapshot> latest_ = std::make_shared<const Snapshot>();
  std::thread thread_;
};

}  // namespace nfx::app::top
