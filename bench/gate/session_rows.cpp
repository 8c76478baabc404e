// session: Session::on_message of an order in sequence, validated against FIX 4.4. send: Session::send of a report.
#include <array>
#include <chrono>

#include "gate/gate_rows.hpp"
#include "nexusfix/session/session.hpp"

namespace nfx::bench {
namespace {

constexpr std::uint32_t block = 32;
constexpr std::uint32_t fields_per_view = 96;

// A venue's logged-on session, and its peer's composer.
class SessionRow : public GateRow {
 public:
  explicit SessionRow(const GateInputs& inputs)
      : inputs_(inputs), session_(config_of(inputs, Role::acceptor)), peer_(config_of(inputs, Role::initiator)) {
    Actions out{output_};
    session_.on_connect(now_, out);
    const std::string logon = composed("A",
                                       "98=0\x01"
                                       "108=0\x01");
    MessageView view;
    Actions answer{output_};
    wrong_unless(view.parse(logon) == WireError::none, "the Logon is not well-formed");
    session_.on_message(view, now_, answer);
    wrong_unless(session_.logged_on(), "the session did not log on");
  }
  void reference() override {
    std::uint64_t sum = 0;
    for (const std::uint32_t i : dealt_) sum += reference_by_bytes(bodies()[i], copy_);
    keep(sum);
  }

 protected:
  [[nodiscard]] virtual const std::vector<std::string>& bodies() const noexcept = 0;
  [[nodiscard]] std::string composed(std::string_view type, std::string_view body) {
    std::string out(256 + body.size(), '\0');
    const auto size = peer_.compose({.msg_type = type, .seq = SeqNum{seq_++}, .body = body}, now_.utc, out);
    out.resize(size.value());
    return out;
  }
  void deal() {
    dealt_ = deal_.next(block);
    now_.utc += std::chrono::milliseconds{1};
    now_.monotonic += std::chrono::milliseconds{1};
  }

  const GateInputs& inputs_;
  std::array<char, 4096> output_{};
  Instant now_{UtcTime{std::chrono::seconds{1'795'000'000}}, MonotonicTime{std::chrono::seconds{1000}}};
  Session session_;
  Order dealt_;

 private:
  static SessionConfig config_of(const GateInputs& inputs, Role role) {
    const bool venue = role == Role::acceptor;
    SessionConfig config;
    config.role = role;
    config.sender_comp_id = venue ? "VENUE" : "TRADER";
    config.target_comp_id = venue ? "TRADER" : "VENUE";
    config.dictionary = venue ? inputs.dictionary.get() : nullptr;
    config.allow_no_heartbeats = true;
    return config;
  }

  Composer peer_;
  std::uint64_t seq_ = 1;
  Deal deal_{gate_messages};
  std::array<char, 1024> copy_{};
};

class ReceiveRow final : public SessionRow {
 public:
  explicit ReceiveRow(const GateInputs& inputs) : SessionRow(inputs) {
    for (std::uint32_t i = 0; i < block; ++i) views_.emplace_back(fields_per_view);
  }
  void check() override { check_blocks(gate_messages / block); }
  void prepare() override {
    deal();
    for (std::uint32_t i = 0; i < block; ++i) {
      bytes_[i] = composed("D", bodies()[dealt_[i]]);
      wrong_unless(views_[i].parse(bytes_[i]) == WireError::none, "an order is not well-formed");
    }
    expected_ = value(session_.next_inbound()) + block;
    delivered_ = 0;
  }
  void work() override {
    std::uint32_t delivered = 0;
    for (const MessageView& view : views_) {
      Actions out{output_};
      session_.on_message(view, now_, out);
      const auto list = out.list();
      if (list.size() == 1 && list[0].kind == ActionKind::deliver && list[0].message == &view &&
          list[0].report == nullptr) {
        ++delivered;
      }
    }
    delivered_ = delivered;
  }
  void verify() override {
    wrong_unless(delivered_ == block && value(session_.next_inbound()) == expected_, "an order was not delivered");
  }

 private:
  [[nodiscard]] const std::vector<std::string>& bodies() const noexcept override { return inputs_.order_bodies; }

  std::vector<MessageView> views_;
  std::array<std::string, block> bytes_;
  std::uint64_t expected_ = 0;
  std::uint32_t delivered_ = 0;
};

class SendRow final : public SessionRow {
 public:
  using SessionRow::SessionRow;
  void check() override {
    MessageView view;
    for (std::uint32_t i = 0; i < gate_messages; ++i) {
      Actions out{output_};
      const auto seq = session_.send({.msg_type = "8", .body = bodies()[i]}, now_, out);
      wrong_unless(seq.has_value() && out.list().size() == 1 && out.list()[0].kind == ActionKind::send, "send");
      const std::string_view bytes = out.list()[0].bytes;
      wrong_unless(view.parse(bytes) == WireError::none && view.get_int(Tag::MsgSeqNum) == std::int64_t(value(*seq)) &&
                       bytes.find(bodies()[i]) + bodies()[i].size() + 7 == bytes.size(),
                   "the bytes of send");
    }
  }
  void prepare() override {
    deal();
    begin_ = place_.below(place_count);
    next_ = value(session_.next_outbound());
  }
  void work() override {
    std::uint64_t sizes = 0;
    for (const std::uint32_t i : dealt_) {
      Actions out{output()};
      if (session_.send({.msg_type = "8", .body = bodies()[i]}, now_, out)) sizes += out.output_used();
    }
    sizes_ = sizes;
  }
  void verify() override {
    std::uint64_t least = 0;
    for (const std::uint32_t i : dealt_) least += bodies()[i].size();
    wrong_unless(sizes_ > least + block * 60 && value(session_.next_outbound()) == next_ + block, "a send fell short");
  }

 private:
  [[nodiscard]] const std::vector<std::string>& bodies() const noexcept override { return inputs_.report_bodies; }

  // Every block writes to a different place. With a single place, some processes would be 5% slower than others, if the
  // low address bits of reads and writes coincide.
  static constexpr std::uint64_t place_count = 4096;
  [[nodiscard]] std::span<char> output() noexcept { return std::span{room_}.subspan(begin_); }

  std::array<char, place_count + 1024> room_{};
  std::size_t begin_ = 0;
  Random place_{7};
  std::uint64_t next_ = 0, sizes_ = 0;
};

}  // namespace

std::vector<GateEntry> session_gate_entries() {
  const char* const bytes = "copy and byte-wise hash of the same bodies";
  return {{"session", 1, "Session::on_message of one order, FIX 4.4 validated", bytes, block, 8, make_row<ReceiveRow>},
          {"send", 1, "Session::send of one report", bytes, block, 16, make_row<SendRow>}};
}

}  // namespace nfx::bench
