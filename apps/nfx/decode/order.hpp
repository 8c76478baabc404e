// The life of one order: the messages that its identifiers connect, across sessions and logs, as a table or a ladder.
// Identifiers are ClOrdID(11), OrigClOrdID(41), OrderID(37), SecondaryOrderID(198), SecondaryClOrdID(526), ExecID(17),
// ExecRefID(19) and BusinessRejectRefID(379). Those of six characters or more are taken as unique everywhere; shorter
// ones, as test systems count them, are followed within their session and kind alone.
// Thread: one owner. Cost: one pass over the fields of each message. Bounds: max_identifiers and max_messages; when
// they are reached, no more are taken, and cut_short() says so.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "decode/decoder.hpp"
#include "decode/log_reader.hpp"
#include "decode/print.hpp"

namespace nfx::app {

// A copy of a message of a log.
struct KeptMessage {
  std::string text, prefix, source;
  FoundMessage found;  // without its texts
  std::optional<UtcTime> time;
  bool captured = false;

  explicit KeptMessage(const LogMessage& message);
  [[nodiscard]] LogMessage view() const noexcept;
};

class OrderTrace {
 public:
  static constexpr std::size_t max_identifiers = 4096;
  static constexpr std::size_t max_messages = 100000;

  explicit OrderTrace(std::string id) : id_(std::move(id)), needles_{id_} {}

  // Begins to read all logs again. Identifiers that are found in the middle of a pass may occur before it.
  void begin_pass();
  void take(const LogMessage& message);
  // Whether another pass may find more.
  [[nodiscard]] bool grew() const noexcept { return grew_; }

  // Every message of the order contains one of these.
  [[nodiscard]] const Needles& needles() const noexcept { return needles_; }
  [[nodiscard]] const std::vector<KeptMessage>& messages() const noexcept { return messages_; }
  [[nodiscard]] bool cut_short() const noexcept { return cut_short_; }

 private:
  void follow(std::string key, std::string_view value);

  std::string id_;
  Needles needles_;
  std::set<std::string, std::less<>> keys_;
  std::vector<KeptMessage> messages_;
  bool grew_ = false;
  bool cut_short_ = false;
};

// `width`: of the terminal, beyond which texts are cut; 0: no limit.
void print_order_table(SafeText& out, const OrderTrace& order, Decoder& decoder, const Palette& palette,
                       std::size_t width);
// The parties as columns, and each message as an arrow between two of them.
void print_order_ladder(SafeText& out, const OrderTrace& order, Decoder& decoder, const Palette& palette);

}  // namespace nfx::app
