// Notifies the service manager (systemd, Type=notify) that the engine serves, that it is alive, and that it stops.
// Thread: begin(), end() and the destructor from the thread that runs the engine; between them its own thread,
// "nfx-service", which sends requests to the poll threads. Cost: nothing without NOTIFY_SOCKET. With it, a request to
// each poll thread three times in the watchdog's time, or once a second without a watchdog. Errors: an unreachable
// manager is one line for the log; READY=1 and STOPPING=1 are repeated until they arrive.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "nexusfix/base/time.hpp"

namespace nfx {

// The manager's settings in the environment. Null: not set.
struct ServiceEnvironment {
  const char* notify_socket = nullptr;  // NOTIFY_SOCKET: "/run/systemd/notify", or "@name"
  const char* watchdog_usec = nullptr;  // WATCHDOG_USEC
  const char* watchdog_pid = nullptr;   // WATCHDOG_PID: the process that it is for
};
[[nodiscard]] ServiceEnvironment read_service_environment() noexcept;

struct ServiceTimes {
  Duration watchdog{};  // zero: none, or another process's
  Duration period{};    // between two requests to the poll threads
};
[[nodiscard]] ServiceTimes service_times(const ServiceEnvironment& environment, std::int64_t pid) noexcept;

// One datagram to that socket. Empty when sent, otherwise why not.
[[nodiscard]] std::string send_to_manager(std::string_view socket, std::string_view text);

class ServiceManager {
 public:
  struct Engine {
    std::function<bool(Duration)> answers;  // whether all poll threads do, in this time
    std::function<bool()> stopping;
    std::function<void(std::string_view)> problem;  // once
    // Runs `work` on the calling thread, in its place: Engine::run_on_housekeeping. Empty: it has no place.
    std::function<void(std::string_view name, const std::function<void()>& work)> in_place{};
  };

  ServiceManager(const ServiceEnvironment& environment, Engine engine);
  ~ServiceManager() { end(); }
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  // READY=1 is sent as soon as all poll threads answer, WATCHDOG=1 whenever they do, STOPPING=1 when the engine stops.
  void begin();
  void end();

 private:
  void run();
  void step();
  bool send(std::string_view text);

  const std::string socket_;
  const ServiceTimes times_;
  const Engine engine_;
  bool told_ready_ = false;  // the thread's, as the next two
  bool told_stopping_ = false;
  bool reported_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace nfx
