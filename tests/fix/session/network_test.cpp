// Two Sessions connected by a network that delays, loses and disconnects. In the end every application message has
// arrived once and in order, and both sides have the same sequence numbers.
#include <gtest/gtest.h>

#include "base/seeded.hpp"
#include "session/session_fixture.hpp"

namespace nfx::test {
namespace {

struct Packet {
  MonotonicTime arrives;
  std::string bytes;
};

struct Side {
  explicit Side(const SessionConfig& config) : rig(config) {}

  SessionRig rig;
  std::deque<Packet> inbox;  // in order of arrival
  MonotonicTime last_arrival{};
  std::vector<std::string> wrote;  // bodies sent by the application
  std::vector<std::string> read;   // bodies delivered to it
  std::uint64_t last_read_seq = 0;
};

class Network {
 public:
  explicit Network(std::uint64_t seed) : generator_(seed) {
    SessionConfig acceptor = acceptor_config();
    acceptor.max_queued_messages = below(3) == 0 ? 4 : 64;
    acceptor.resend_chunk_size = below(3) == 0 ? 1 + static_cast<std::uint32_t>(below(6)) : 0;
    acceptor.send_next_expected_seq_num = below(3) == 0;
    acceptor.resend_timeout = std::chrono::seconds{3};
    acceptor.max_resend_attempts = 20;
    SessionConfig initiator = acceptor;
    initiator.role = Role::initiator;
    std::swap(initiator.sender_comp_id, initiator.target_comp_id);
    initiator.heartbeat_interval = std::chrono::seconds{5};
    initiator.max_queued_messages = below(3) == 0 ? 4 : 64;
    initiator.resend_chunk_size = below(3) == 0 ? 1 + static_cast<std::uint32_t>(below(6)) : 0;
    sides_.emplace_back(acceptor);
    sides_.emplace_back(initiator);
    for (Side& side : sides_) {
      if (below(2) == 0) side.rig.output_space = 1024 + below(2000);
    }
  }

  // Advances time in steps of 100 ms. `hostile`: the network injects faults and the applications write.
  void run(int steps, bool hostile) {
    for (int i = 0; i < steps; ++i) {
      if (up_ && hostile && below(60) == 0) cut();
      if (!up_ && below(hostile ? 10 : 2) == 0) connect();
      for (Side& side : sides_) {
        side.rig.advance(std::chrono::milliseconds{100});
        if (hostile && below(4) == 0) write(side);
      }
      move(hostile);
    }
  }

  [[nodiscard]] bool settled() {
    Side &a = sides_[0], &b = sides_[1];
    return up_ && a.rig.session.logged_on() && b.rig.session.logged_on() &&
           a.rig.session.next_inbound() == b.rig.session.next_outbound() &&
           b.rig.session.next_inbound() == a.rig.session.next_outbound() && a.read == b.wrote && b.read == a.wrote;
  }

  [[nodiscard]] std::string describe() {
    std::string text;
    for (Side& side : sides_) {
      text += std::string{to_string(side.rig.session.config().role)} + ": next in " +
              std::to_string(value(side.rig.session.next_inbound())) + ", next out " +
              std::to_string(value(side.rig.session.next_outbound())) + ", wrote " + std::to_string(side.wrote.size()) +
              ", read " + std::to_string(side.read.size()) + ", " + std::string{to_string(side.rig.session.phase())} +
              ", closed because: " + side.rig.close_text + "\n";
    }
    return text;
  }

  [[nodiscard]] const std::string& broken() const { return broken_; }
  [[nodiscard]] std::size_t written() const { return sides_[0].wrote.size() + sides_[1].wrote.size(); }
  [[nodiscard]] std::size_t most_actions() const {
    return std::max(sides_[0].rig.most_actions, sides_[1].rig.most_actions);
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return generator_() % limit; }

  void connect() {
    up_ = true;
    for (Side& side : sides_) {
      side.inbox.clear();
      side.rig.connect();
    }
  }
  void cut() {
    up_ = false;
    for (Side& side : sides_) {
      side.rig.cut();
      side.rig.sent.clear();
      side.inbox.clear();
    }
  }

  void write(Side& side) {
    const std::string body = "11=m" + std::to_string(side.wrote.size()) + '\x01';
    if (side.rig.send("D", body)) side.wrote.push_back(body);
  }

  void move(bool hostile) {
    for (std::size_t from = 0; from < 2; ++from) {
      Side& sender = sides_[from];
      Side& receiver = sides_[1 - from];
      for (; !sender.rig.sent.empty(); sender.rig.sent.pop_front()) post(receiver, sender.rig.sent.front(), hostile);
      while (up_ && !receiver.inbox.empty() && receiver.inbox.front().arrives <= receiver.rig.now.monotonic) {
        const std::string bytes = std::move(receiver.inbox.front().bytes);
        receiver.inbox.pop_front();
        receiver.rig.receive(bytes);
        take_deliveries(receiver);
      }
      if (up_ && (sender.rig.closed || receiver.rig.closed)) cut();
    }
  }

  // A connection keeps the order; a lost message is one that was damaged in transit.
  void post(Side& receiver, std::string bytes, bool hostile) {
    if (hostile && below(25) == 0) bytes[bytes.size() - 2] = bytes[bytes.size() - 2] == '7' ? '8' : '7';
    const Duration delay = std::chrono::milliseconds{hostile ? below(600) : 10};
    receiver.last_arrival = std::max(receiver.last_arrival, receiver.rig.now.monotonic + delay);
    receiver.inbox.push_back({receiver.last_arrival, std::move(bytes)});
  }

  void take_deliveries(Side& side) {
    for (; !side.rig.delivered.empty(); side.rig.delivered.pop_front()) {
      MessageView view;
      if (view.parse(side.rig.delivered.front()) != WireError::none) broken_ = "a delivered message does not parse";
      const std::uint64_t seq = value(view.get_seq_num(Tag::MsgSeqNum).value_or(SeqNum{}));
      if (seq <= side.last_read_seq)
        broken_ = "message " + std::to_string(seq) + " was delivered twice or out of order";
      side.last_read_seq = seq;
      side.read.push_back("11=" + std::string{view.get_view(Tag::ClOrdID)} + '\x01');
    }
  }

  std::mt19937_64 generator_;
  std::deque<Side> sides_;
  bool up_ = false;
  std::string broken_;
};

TEST(TwoSessions, deliver_everything_once_and_in_order_over_a_hostile_network) {
  const Seeded base;
  constexpr std::uint64_t runs = 2500;
  std::size_t written = 0, most_actions = 0;
  for (std::uint64_t i = 0; i < runs; ++i) {
    const std::uint64_t seed = base.seed + i;
    Network network{seed};
    network.run(300, true);
    for (int quiet = 0; quiet < 60 && !network.settled(); ++quiet) network.run(10, false);
    ASSERT_EQ(network.broken(), "") << "NFX_TEST_SEED=" << seed;
    ASSERT_TRUE(network.settled()) << "NFX_TEST_SEED=" << seed << '\n' << network.describe();
    written += network.written();
    most_actions = std::max(most_actions, network.most_actions());
  }
  EXPECT_GT(written, runs * 20);
  EXPECT_LE(most_actions, Actions::capacity);
}

}  // namespace
}  // namespace nfx::test
