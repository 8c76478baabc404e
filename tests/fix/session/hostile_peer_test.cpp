// A peer that sends anything in any state: the session may log out or disconnect, but never violates an invariant.
// Actions::push aborts the program if a step adds more actions than fit, so this test also shows that none does.
#include <gtest/gtest.h>

#include "base/seeded.hpp"
#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "session/session_fixture.hpp"

namespace nfx::test {
namespace {

class HostilePeer {
 public:
  HostilePeer(std::uint64_t seed, const Dictionary* dictionary) : generator_(seed), rig_(config(dictionary)) {}

  void run() {
    for (int i = 0; i < 150 && rig_.store_resets < 1000; ++i) {
      if (rig_.closed) rig_.connect();
      // Usually a session that logs on, and sometimes an output space that is nearly full.
      rig_.output_space = below(12) == 0 ? below(400) : 8192;
      switch (below(12)) {
        case 0: rig_.advance(std::chrono::milliseconds{below(40'000)}); break;
        case 1: static_cast<void>(rig_.send("8", "11=x\x01")); break;
        case 2:
          if (below(8) == 0) rig_.cut();
          break;
        case 3:
          if (below(6) == 0) rig_.logout("bye");
          break;
        case 4:
          if (below(6) == 0) rig_.reset();
          break;
        default:
          if (!rig_.session.logged_on() && below(4) != 0) {
            say(rig_, "35=A|34=" + number() + "|98=0|108=" + std::to_string(below(40)) + "|");
          } else {
            rig_.receive(message());
          }
      }
      check();
      if (testing::Test::HasFatalFailure()) return;
    }
  }

  [[nodiscard]] std::size_t most_actions() const { return rig_.most_actions; }
  [[nodiscard]] int logons() const { return rig_.logged_on_count; }

 private:
  std::uint64_t below(std::uint64_t limit) { return generator_() % limit; }

  SessionConfig config(const Dictionary* dictionary) {
    constexpr std::array versions{"FIX.4.0", "FIX.4.1", "FIX.4.2", "FIX.4.4"};
    SessionConfig config = below(2) == 0 ? acceptor_config() : initiator_config();
    config.begin_string = versions[below(4)];
    config.reset_on_logon = below(4) == 0;
    config.reset_on_logout = below(2) == 0;
    config.reset_on_disconnect = below(2) == 0;
    config.send_next_expected_seq_num = below(2) == 0;
    config.resend_chunk_size = static_cast<std::uint32_t>(below(3));
    config.max_queued_messages = static_cast<std::uint32_t>(below(6));
    config.max_resend_attempts = static_cast<std::uint32_t>(below(4));
    config.max_queued_bytes = 400;
    if (config.begin_string == "FIX.4.4" && below(2) == 0) config.dictionary = dictionary;
    return config;
  }

  // A sequence number near the expected one, or far from it, or none.
  std::string number() {
    const std::uint64_t next = value(rig_.session.next_inbound());
    switch (below(8)) {
      case 0: return std::to_string(next + 1 + below(5));
      case 1: return std::to_string(next - std::min(next, below(5)));
      case 2: return std::array{"0", "1", "-1", "x", "", "999999999999999999", "9999999999999999999"}[below(7)];
      default: return std::to_string(next);
    }
  }

  std::string message() {
    constexpr std::array types{"0", "1", "2", "3", "4", "5", "A", "D", "8", "j", "", "zz"};
    std::string text = std::string{"35="} + types[below(types.size())] + "|";
    if (below(40) != 0) text += "34=" + number() + "|";
    if (below(6) == 0) text += "43=Y|";
    if (below(4) == 0)
      text += "122=" + std::string{std::array{"20240315-12:00:00", "20990101-00:00:00", "x", ""}[below(4)]} + "|";
    if (below(30) == 0) text += "115=|116=" + std::string(below(600), 'r') + "|";
    if (below(2) == 0) text += "7=" + number() + "|16=" + number() + "|";
    if (below(2) == 0) text += "36=" + number() + "|";
    if (below(2) == 0) text += "123=Y|";
    if (below(2) == 0) text += "98=0|108=" + std::string{std::array{"5", "0", "-1", "99999", "x"}[below(5)]} + "|";
    if (below(2) == 0) text += "141=Y|";
    if (below(4) == 0) text += "789=" + number() + "|";
    if (below(3) == 0) text += "112=" + std::string(below(4) == 0 ? 1200 : 5, 't') + "|";
    if (below(3) == 0) text += "58=" + std::string(below(400), 'w') + "|";
    std::string bytes = peer_message(rig_, text);
    switch (below(20)) {
      case 0: return bytes.substr(0, below(bytes.size()));
      case 1: bytes[below(bytes.size())] = static_cast<char>(below(256)); return bytes;
      case 2: return change(bytes, "52=2024", "52=1700");
      case 3: return change(bytes, "49=PEER", "49=REEP");
      case 4: return change(bytes, "8=FIX.4", "8=FIX.5");
      default: return bytes;
    }
  }

  // Replaces bytes by the same number of others and corrects the CheckSum.
  static std::string change(std::string bytes, std::string_view what, std::string_view with) {
    const std::size_t at = bytes.find(what);
    if (at == std::string::npos) return bytes;
    bytes.replace(at, what.size(), with);
    const std::size_t size = bytes.size() - Encoder::trailer_size;
    write_check_sum_field(bytes.data() + size, check_sum(std::string_view{bytes}.substr(0, size)));
    return bytes;
  }

  void check() {
    const Session& session = rig_.session;
    ASSERT_GE(session.next_inbound(), first_seq_num);
    ASSERT_GE(session.next_outbound(), first_seq_num);
    ASSERT_LE(session.queued(), session.config().max_queued_messages);
    ASSERT_EQ(rig_.closed, session.phase() == Phase::disconnected);
    if (rig_.closed) {
      ASSERT_FALSE(session.replaying());
      ASSERT_EQ(session.next_deadline(), MonotonicTime::max());
    }
    for (; !rig_.sent.empty(); rig_.sent.pop_front()) {
      MessageView view;
      ASSERT_EQ(view.parse(rig_.sent.front()), WireError::none) << with_bars(rig_.sent.front());
      if (session.config().dictionary != nullptr && is_session_msg_type(view.msg_type())) {
        ValidationReport report;
        const auto violation = validate(view, *session.config().dictionary, ValidationPolicy::strict(), report);
        ASSERT_FALSE(violation.has_value())
            << to_text(violation->reason) << ' ' << value(violation->tag) << ": " << with_bars(rig_.sent.front());
      }
    }
    rig_.delivered.clear();
    rig_.notices.clear();
  }

  std::mt19937_64 generator_;
  SessionRig rig_;
};

TEST(HostilePeer, cannot_break_the_session_or_overfill_its_actions) {
  const Seeded base;
  const Dictionary dictionary = load_dictionary(NFX_SOURCE_DIR "/dictionaries/FIX44.xml");
  std::size_t most_actions = 0;
  int logons = 0;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    HostilePeer peer{base.seed + i, &dictionary};
    peer.run();
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "NFX_TEST_SEED=" << base.seed + i;
    most_actions = std::max(most_actions, peer.most_actions());
    logons += peer.logons();
  }
  EXPECT_GT(logons, 4000);
  RecordProperty("most_actions", static_cast<int>(most_actions));
  EXPECT_LE(most_actions, Actions::most_per_event);
  EXPECT_LT(Actions::most_per_event, Actions::capacity);
}

}  // namespace
}  // namespace nfx::test
