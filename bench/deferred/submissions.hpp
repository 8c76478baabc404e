// The work that is deferred or done inline, and the loop that offers messages at a rate.
// Thread: Work by one at a time. Errors: WrongAnswerError where the answers differ.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "deferred/rows.hpp"
#include "nexusfix/concurrent/cycle_counter.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "observe/message_text.hpp"

namespace nfx::bench {

// Parses an ExecutionReport, makes a log line of it, and appends that to a buffer; with a sum that shows whether every
// message was processed. Bytes that are not a message are made a line of, too.
class Work {
 public:
  void operator()(std::span<const char> bytes, std::uint64_t stamp) {
    const std::string_view message{bytes.data(), bytes.size()};
    const bool parsed = view_.parse(message) == WireError::none;
    if (lines_.size() > buffer_size - 16384) lines_.clear();
    const std::size_t begin = lines_.size();
    const UtcTime time{Duration{static_cast<std::int64_t>(stamp)}};
    lines_.append(text_.data(), time_.write(text_.data(), time, 9));
    lines_ += ' ';
    if (parsed) lines_ += view_.get_view(Tag::ClOrdID);
    lines_ += ' ';
    append_message_text(lines_, message, {});
    lines_ += '\n';
    sum_ = sum_ * 31 + (lines_.size() - begin) + static_cast<unsigned char>(lines_[begin + 29]);
    ++messages_;
    parsed_ += parsed ? 1 : 0;
  }
  [[nodiscard]] std::uint64_t sum() const noexcept { return sum_; }
  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
  [[nodiscard]] std::uint64_t parsed() const noexcept { return parsed_; }

 private:
  static constexpr std::size_t buffer_size = 1 << 20;

  MessageView view_{96};
  UtcTimestampWriter time_;
  std::array<char, max_utc_timestamp_size> text_{};
  std::string lines_ = std::string(buffer_size, '\0').substr(0, 0);
  std::uint64_t sum_ = 0;
  std::uint64_t messages_ = 0;
  std::uint64_t parsed_ = 0;
};

// Calls receive(number) for each message when it is due, `interval_ns` after the one before was due (open loop): a
// message that is late is handed over immediately. Gives what the calls cost; the first tenth warms up.
template <class Receive, class Between>
Figures offer(std::uint32_t messages, double interval_ns, const Tools& tools, Receive&& receive, Between&& between) {
  LatencyHistogram picoseconds;
  const double interval = interval_ns * tools.clock.ticks_per_ns;
  const std::uint32_t warm_up = messages / 10;
  const std::uint64_t start = ticks_before();
  for (std::uint32_t i = 0; i < messages; ++i) {
    between();
    const std::uint64_t due = start + static_cast<std::uint64_t>(interval * i);
    std::uint64_t begin = ticks_before();
    while (begin < due) {
      cpu_pause();
      begin = ticks_before();
    }
    receive(i);
    const std::uint64_t end = ticks_after();
    if (i >= warm_up) picoseconds.record(static_cast<std::uint64_t>(tools.to_ns(end - begin) * 1000));
  }
  return figures_of(picoseconds, 1000);
}

template <class Receive>
Figures offer(std::uint32_t messages, double interval_ns, const Tools& tools, Receive&& receive) {
  return offer(messages, interval_ns, tools, receive, [] {});
}

}  // namespace nfx::bench
