// Our side's program, venue and client in one: answers every order with New and Filled, and sends orders. It records
// its messages for the tests.
// Thread: the one that runs the engine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/engine/application.hpp"
#include "nexusfix/engine/observer.hpp"

namespace nfx::interop {

class TradingApplication final : public Application, public Observer {
 public:
  struct Received {
    std::string msg_type;
    std::string id;  // ClOrdID
    char ord_status = '-';
    std::uint64_t seq = 0;
    bool poss_dup = false;
    std::string symbol, side, quantity;
    std::string price;                 // of an order; for a report, the average price
    std::string data;                  // EncodedText
    std::vector<std::string> parties;  // "id/role[/sub id...]"
  };
  struct Refusal {
    std::string ref_seq, ref_msg_type, ref_tag, reason;
    friend bool operator==(const Refusal&, const Refusal&) = default;
  };

  // Rich orders contain a nested group, which FIX 4.2 does not have, and after it a data field with SOH inside. Plain
  // data has '|' instead and precedes the group, for engines that would misread the other form.
  struct Orders {
    bool rich = false;
    bool plain_data = false;
  };

  // FIX 4.2 names an execution differently.
  TradingApplication(std::string begin_string, std::shared_ptr<const Dictionary> dictionary, Orders orders)
      : begin_string_(std::move(begin_string)), dictionary_(std::move(dictionary)), orders_(orders) {}

  // Sends `count` orders in the poll loop's iterations while the session is up; after `cut_after` of them the
  // connection is cut with the last of them still unsent.
  void ask_orders(std::size_t count, std::size_t cut_after = 0);
  // Cuts the connection after this many more orders, in the middle of answering.
  void cut_after_orders(std::size_t count) { orders_until_cut_ = count; }
  // Answers orders with BusinessMessageReject from now on.
  void refuse_orders() { refuse_orders_ = true; }

  [[nodiscard]] static std::string rich_data(std::size_t number, bool plain = false);
  [[nodiscard]] std::string order_body(std::size_t number) const;

  // Recorded messages.
  [[nodiscard]] const std::vector<Received>& received() const noexcept { return received_; }
  [[nodiscard]] std::size_t orders_in() const noexcept { return orders_in_; }
  [[nodiscard]] std::size_t reports_in() const noexcept { return reports_in_; }
  [[nodiscard]] bool idle() const noexcept { return orders_left_ == 0 && answers_.empty(); }
  // Whether each order or report arrived exactly once: one order per id, or one New and one Filled.
  [[nodiscard]] bool every_order_came_once(std::size_t count) const;
  [[nodiscard]] bool every_report_came_once(std::size_t count) const;
  // Messages of this type by direction; also only the ones with PossDupFlag.
  [[nodiscard]] std::size_t traffic(Direction direction, std::string_view msg_type) const;
  [[nodiscard]] std::size_t resent(Direction direction) const noexcept { return resent_[index(direction)]; }
  [[nodiscard]] std::size_t resent_without_original_time() const noexcept { return resent_without_original_time_; }
  [[nodiscard]] const std::vector<Refusal>& rejects() const noexcept { return rejects_; }
  [[nodiscard]] const std::vector<std::string>& logouts() const noexcept { return logouts_; }
  [[nodiscard]] const std::vector<Notice>& notices() const noexcept { return notices_; }
  [[nodiscard]] bool noticed(Notice notice) const;
  [[nodiscard]] std::string tail() const;

  Handled on_message(SessionHandle& session, const MessageView& message) override;
  void on_reject(SessionHandle& session, const MessageView& reject) override;
  void on_logout(SessionHandle& session, std::string_view reason) override;
  void on_traffic(SessionHandle& session, Direction direction, std::string_view message) override;
  void on_notice(SessionHandle& session, Notice notice, SeqNum seq, std::string_view text) override;
  Duration on_turn(Instant now) override;

  // Called once by the rig: on_turn sends on this session.
  void attach(SessionHandle& session) noexcept { session_ = &session; }

 private:
  static constexpr std::size_t index(Direction direction) noexcept { return direction == Direction::in ? 0 : 1; }
  void answer(const MessageView& order);
  void send_answers();
  [[nodiscard]] std::vector<std::string> parties(const MessageView& message) const;

  std::string begin_string_;
  std::shared_ptr<const Dictionary> dictionary_;
  Orders orders_;
  bool refuse_orders_ = false;
  SessionHandle* session_ = nullptr;

  std::size_t orders_left_ = 0;
  std::size_t orders_until_own_cut_ = 0;  // 0: no cut requested
  std::size_t orders_until_cut_ = 0;
  std::size_t orders_out_ = 0;
  std::size_t executions_ = 0;
  std::deque<std::string> answers_;   // not sent yet: no session, or its buffer was full
  std::optional<SendError> refused_;  // error of the first of them

  std::vector<Received> received_;
  std::size_t orders_in_ = 0;
  std::size_t reports_in_ = 0;
  std::array<std::map<std::string, std::size_t, std::less<>>, 2> traffic_;
  std::array<std::size_t, 2> resent_{};
  std::size_t resent_without_original_time_ = 0;
  std::vector<Refusal> rejects_;
  std::vector<std::string> logouts_;
  std::vector<Notice> notices_;
  std::deque<std::string> log_;  // the last events, for a failed assertion
};

}  // namespace nfx::interop
