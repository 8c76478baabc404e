// Hands connections on to the gateways that own their sessions: it takes them from the poll threads' queue, and has the
// proxy pass their bytes.
// Thread: the gateway's; lines and counters also from the proxy's. Cost: none but at a Logon for another gateway.
// Bounds: hand_on_max connections; lines_max lines a second, and then their number.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "engine/handed_on.hpp"
#include "gateway/proxy.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/log/line_log.hpp"
#include "nexusfix/session/token_bucket.hpp"

namespace nfx::gateway {

class HandOn {
 public:
  static constexpr std::uint32_t lines_max = 20;

  // `pushed` is called when serve() has something to do. All outlive this.
  HandOn(Engine& engine, LineLog& lines, std::function<void()> pushed);
  ~HandOn();
  HandOn(const HandOn&) = delete;
  HandOn& operator=(const HandOn&) = delete;

  [[nodiscard]] bool waiting() const noexcept { return queue_.waiting(); }
  // owner_of(replica name of a session) is the name of the gateway that owns it now; empty: none is known.
  void serve(const std::function<std::string(const std::string&)>& owner_of);

 private:
  void hand_on(HandedOn& connection, const std::string& owner);
  void refuse(const HandedOn& connection, std::uint64_t HandOnCounters::* counter, const std::string& why);
  void on_report(const ProxyReport& report);
  void line(LogLevel level, const HandedOn& connection, std::string text);

  const EngineConfig& config_;
  HandOnQueue& queue_;
  LineLog& lines_;
  std::mutex lines_mutex_;
  TokenBucket lines_limit_{lines_max, lines_max};
  std::uint64_t lines_omitted_ = 0;
  Proxy proxy_;
};

}  // namespace nfx::gateway
