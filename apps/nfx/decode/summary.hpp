// What a log contains: messages by type, and with `details` each direction of a session with its times, sequence gaps
// and restarts, and how long answers took. An answer to a request, such as an order, is the first message
// in the other direction with the same ClOrdID(11), TestReqID(112), QuoteReqID(131), MDReqID(262) or other request ID.
// Thread: one owner. Cost: a lookup per message, with details several. Bounds: max_types, max_directions, max_gaps of
// each direction, max_requests without an answer; what is beyond them is counted and named.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "decode/decoder.hpp"
#include "decode/log_reader.hpp"
#include "nexusfix/base/latency_histogram.hpp"
#include "text.hpp"

namespace nfx::app {

class Summary {
 public:
  explicit Summary(bool details) : details_(details) {}

  void count(const DecodedMessage& message, const LogMessage& logged);
  void print(SafeText& out, bool validated) const;
  // Only missing sequence numbers.
  void print_gaps(SafeText& out) const;
  [[nodiscard]] bool has_gaps() const noexcept;

 private:
  static constexpr std::size_t max_types = 4096;
  static constexpr std::size_t max_directions = 4096;
  static constexpr std::size_t max_gaps = 10000;
  static constexpr std::size_t max_requests = 1'000'000;
  static constexpr std::size_t max_answers = 1000;

  struct Type {
    std::uint64_t count = 0;
    std::string name;
  };
  struct Gap {
    std::uint64_t first = 0, last = 0;
    std::string place;  // of the message after it
  };
  struct Direction {
    std::uint64_t count = 0, repeated = 0, restarts = 0, resent = 0;
    std::optional<UtcTime> first, last;
    UtcTime second{};  // that is counted
    std::uint64_t in_second = 0, most_in_second = 0;
    std::uint64_t expected = 0;  // sequence number; 0: unknown
    std::string started;         // SendingTime of the message with number 1
    std::vector<Gap> gaps;
    bool more_gaps = false;
  };
  struct Request {
    UtcTime time{};
    std::string type;
  };
  using Histogram = LogLinearHistogram<6, 47>;

  void follow_numbers(Direction& direction, const LogMessage& logged, std::string_view text);
  void fill(Direction& direction, std::uint64_t first, std::uint64_t last);
  void match_answer(const DecodedMessage& message, const LogMessage& logged, std::uint32_t tag, std::string_view id);
  void print_directions(SafeText& out) const;
  void print_answers(SafeText& out) const;

  bool details_;
  std::map<std::string, Type, std::less<>> types_;
  std::map<std::string, Direction, std::less<>> directions_;
  std::unordered_map<std::string, Request> requests_;
  std::map<std::string, Histogram, std::less<>> answers_;
  std::string key_;
  std::uint64_t total_ = 0, bad_ = 0, invalid_ = 0, unmatched_ = 0, untimed_ = 0;
};

}  // namespace nfx::app
