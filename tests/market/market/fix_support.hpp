// FIX messages in few words, and an output that applies events to books by level and by order, for tests.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/market/feed.hpp"
#include "nexusfix/market/order_book.hpp"
#include "nexusfix/wire/encoder.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::market::test {

// A message of this type with a body in which '|' stands for SOH.
class FixText {
 public:
  FixText() : view_(8192) {}

  const MessageView& operator()(std::string_view type, std::string body) {
    std::ranges::replace(body, '|', '\x01');
    bytes_.resize(body.size() + 128);
    Encoder encoder{bytes_};
    encoder.begin("FIX.4.4", type);
    encoder.fields().append(Tag::MsgSeqNum, 7).append_raw(body);
    message_ = encoder.finish();
    NFX_REQUIRE(view_.parse(message_) == WireError::none);
    return view_;
  }

 private:
  std::vector<char> bytes_;
  std::string message_;
  MessageView view_;
};

// Two books of each instrument.
class Books final : public FeedOutput {
 public:
  explicit Books(std::uint32_t instruments, std::uint32_t depth = 64)
      : orders({.instruments = instruments, .orders = 4096, .levels = 4096}) {
    for (std::uint32_t i = 0; i < instruments; ++i) levels.push_back(std::make_unique<LevelBook>(depth));
  }

  void event(const Event& event) noexcept override {
    events.push_back(event);
    const auto index = static_cast<std::uint32_t>(event.instrument);
    NFX_REQUIRE(index < levels.size());
    levels[index]->apply(event);
    orders.apply(InstrumentIndex{index}, event);
  }
  void request_snapshot(InstrumentIndex index) noexcept override { requests.push_back(index); }

  [[nodiscard]] std::string text_of(std::uint32_t index, Side side) const {
    std::array<Level, 128> found;
    const std::size_t count = levels[index]->levels(side, found);
    std::string text;
    for (const Level& level : std::span{found}.first(count)) {
      text += std::to_string(level.price.nano / 1'000'000'000) + "x" + std::to_string(level.quantity) + " ";
    }
    return text;
  }

  std::vector<Event> events;
  std::vector<InstrumentIndex> requests;
  std::vector<std::unique_ptr<LevelBook>> levels;
  OrderBooks orders;
};

[[nodiscard]] inline Instant at_ms(std::int64_t milliseconds) {
  const Duration since{milliseconds * 1'000'000};
  return {UtcTime{since}, MonotonicTime{since}};
}

}  // namespace nfx::market::test
