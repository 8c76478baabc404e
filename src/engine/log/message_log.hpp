// Every sent and received message, one line each, written by a worker, not by the threads that serve sessions. See
// deferred_log.hpp for threads, cost, bounds, rotation, full queues and failed disks.
//
//    full       20240315-12:00:00.123456789 in  FIX.4.4:ME->YOU 8=FIX.4.4|9=...
//    quickfix   20240315-12:00:00.123456789 : 8=FIX.4.4|9=...           as QuickFIX's FileLog writes it
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "log/deferred_log.hpp"
#include "log/message_text.hpp"
#include "nexusfix/log/log_format.hpp"

namespace nfx {

enum class LogDirection : std::uint8_t { in, out };

struct MessageLogOptions {
  DeferredLogOptions log;
  MessageLogFormat format = MessageLogFormat::full;
  MessageTextOptions text;
  // Maximum number of messages without business content (MsgType 0 to 5 and A) per session and second. Further ones are
  // counted, and a line says how many. 0: no limit.
  std::uint32_t session_message_rate = 0;
};

class MessageLog final : public DeferredLog {
 public:
  class Lane {
   public:
    // On the queue's own thread. Copies the bytes.
    void record(std::uint32_t session, LogDirection direction, UtcTime time, std::string_view bytes) noexcept {
      lane_->record(static_cast<std::uint8_t>(direction), session, time, bytes, {});
    }

   private:
    friend class MessageLog;
    explicit Lane(LogLane& lane) noexcept : lane_(&lane) {}
    LogLane* lane_;
  };

  explicit MessageLog(MessageLogOptions options);
  ~MessageLog() override { finish(); }

  // The queue for the thread with this number, below `options.log.lanes`; otherwise throws std::out_of_range.
  [[nodiscard]] Lane lane(std::uint32_t thread) { return Lane{lane_at(thread)}; }

 private:
  void append_line(std::string& out, const Line& line) override;
  [[nodiscard]] std::string_view noun() const noexcept override { return "messages"; }
  bool omits(const Line& line) override;
  void report_omitted(UtcTime now, bool all) override;

  static constexpr std::string_view counted_types = "012345A";
  // The messages of one session within a second.
  struct Second {
    UtcTime begin{};
    std::uint32_t written = 0;
    std::array<std::uint64_t, counted_types.size()> omitted{};
    [[nodiscard]] std::uint64_t sum() const noexcept;
  };
  void end_second(std::uint32_t session, Second& second, UtcTime time);

  const MessageLogFormat format_;
  const MessageTextOptions text_;
  const std::uint32_t rate_;
  std::unordered_map<std::uint32_t, Second> seconds_;  // sessions that had such a message in the last second
};

}  // namespace nfx
