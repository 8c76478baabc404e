// A trader and a venue that make an order and its report exactly as long as the raw rows' request and answer, one at a
// time. IDs and terms of a message follow from its number, and each side checks them.
// Thread: each on its engine's poll thread. Cost: no allocation per message. Errors: `problem` says what was wrong.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include "nexusfix/base/latency_histogram.hpp"
#include "nexusfix/engine/application.hpp"
#include "nexusfix/engine/observer.hpp"
#include "nexusfix/wire/field_writer.hpp"

namespace nfx::bench {

class OrderSide : public Application, public Observer {
 public:
  OrderSide(std::size_t message_size, std::uint64_t seed) : message_size_(message_size), seed_(seed) {}

  void on_logout(SessionHandle&, std::string_view) override { ended = true; }
  void on_reject(SessionHandle&, const MessageView&) override { note("a message was rejected"); }
  void on_traffic(SessionHandle&, Direction direction, std::string_view message) override;

  bool ended = false;
  std::string problem;

 protected:
  struct Terms {
    std::string_view symbol;
    char side;
    std::uint64_t quantity;
    Decimal price;
  };
  [[nodiscard]] Terms terms_of(std::uint64_t number) const noexcept;
  // Whether a message has these terms.
  [[nodiscard]] static bool says(const MessageView& message, const Terms& terms);
  static void append(FieldWriter& body, const Terms& terms);
  // Pads with Text and sends.
  void send(SessionHandle& session, std::string_view type, FieldWriter& body, std::uint64_t number);
  void note(const std::string& text) {
    if (problem.empty()) problem = text;
  }

  std::array<char, 512> buffer_;

 private:
  std::size_t message_size_;
  std::uint64_t seed_;
  std::size_t body_size_ = 0;  // of the message being sent
  std::size_t seq_digits_ = 0;
  std::size_t envelope_ = 0;  // bytes that the session adds, without the digits of MsgSeqNum; 0: unknown
};

class OrderVenue final : public OrderSide {
 public:
  using OrderSide::OrderSide;
  Handled on_message(SessionHandle& session, const MessageView& order) override;
  [[nodiscard]] std::uint64_t answered() const noexcept { return answered_; }

 private:
  std::uint64_t answered_ = 0;
};

class OrderTrader final : public OrderSide {
 public:
  OrderTrader(std::size_t message_size, std::uint64_t seed, std::uint64_t warm_up, std::uint64_t measured)
      : OrderSide(message_size, seed), warm_up_(warm_up), all_(warm_up + measured) {}
  void on_logon(SessionHandle& session) override { send_next(session); }
  Handled on_message(SessionHandle& session, const MessageView& report) override;
  [[nodiscard]] std::uint64_t answered() const noexcept { return answered_; }

  LatencyHistogram round_trip;  // of the measured orders

 private:
  void send_next(SessionHandle& session);

  std::uint64_t warm_up_;
  std::uint64_t all_;
  std::uint64_t answered_ = 0;
  std::chrono::steady_clock::time_point begin_{};
};

}  // namespace nfx::bench
