// The peer's messages in the journal of a session with store_received.
#include <gtest/gtest.h>

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "engine/journal_session.hpp"
#include "store/journal_reader.hpp"

namespace nfx::test {
namespace {

// A venue that stores what it receives.
class ReceivedMessages : public JournalSession {
 protected:
  static SessionSettings storing() {
    SessionSettings settings = with_journal(acceptor(), Durability::interval, "venue");
    settings.store_received = true;
    settings.journal.ring_size = 128 * 1024;
    settings.journal.segment_size = 128 * 1024;
    settings.session.store_omit_types = {"F"};
    return settings;
  }
  void start_storing() {
    rig.venue.config.sessions = {storing()};
    start(Durability::interval);
  }
  std::expected<SeqNum, SendError> say(std::string_view type, std::string_view body) {
    return rig.trader.session().send({.msg_type = type, .body = body, .header_fields = {}});
  }
  // "1 A", "2 D": the number before each record's and the type of the message in it; "3" without one.
  [[nodiscard]] std::vector<std::string> received() {
    rig.clock.advance(20ms);
    flush();
    std::vector<std::string> found;
    const auto visit = [&](const JournalRecord& record) {
      if (record.header.kind != RecordKind::next_inbound) return true;
      found.push_back(std::to_string(record.header.seq - 1));
      if (!has_flag(record.header, RecordFlag::received)) return true;
      MessageView view;
      EXPECT_EQ(view.parse(record.body), WireError::none);
      found.back() += ' ' + std::string{view.msg_type()};
      return true;
    };
    static_cast<void>(scan_journal_in_use(disk, rig.venue.session().journal()->folder(), visit));
    return found;
  }
};

TEST_F(ReceivedMessages, are_stored_once_each_but_those_that_must_not_be) {
  start_storing();
  ASSERT_TRUE(order("a"));
  ASSERT_TRUE(say("F", field(11, "omitted")));
  ASSERT_TRUE(say("B", field(554, "secret")));
  ASSERT_TRUE(order("b"));
  turn(4);
  EXPECT_EQ(received(), (std::vector<std::string>{"1 A", "2 D", "3", "4", "5 D"}));
  restart_venue(Durability::interval);
  EXPECT_EQ(rig.venue.session().next_inbound(), SeqNum{6});
}

TEST_F(ReceivedMessages, are_stored_in_the_order_in_which_they_were_processed) {
  SessionSettings settings = storing();
  settings.session.max_queued_messages = 10;
  rig.venue.config.sessions = {settings};
  open_venue(Durability::interval);
  RawPeer peer{rig.network, rig.clock};
  peer.connect();
  const auto send = [&](const std::string& message) {
    peer.send(message);
    for (int i = 0; i < 4; ++i) {  // the first message waits for the flusher to make the files
      rig.venue.loop->turn(0ns);
      flush();
      rig.clock.advance(1ms);
    }
  };
  send(peer.logon());
  send(peer.message("D", field(11, "waits for the one before"), 3));
  EXPECT_EQ(received(), (std::vector<std::string>{"1 A"}));
  send(peer.message("8", field(11, "before"), 2));
  EXPECT_EQ(received(), (std::vector<std::string>{"1 A", "2 8", "3 D"}));
}

TEST_F(ReceivedMessages, leave_the_numbers_correct_on_a_full_disk) {
  start_storing();
  ASSERT_NO_FATAL_FAILURE(end_in_order_on_a_full_disk());
  const SeqNum in = rig.venue.session().next_inbound();
  EXPECT_EQ(rig.venue.session().journal()->next_inbound(), in);
  disk.fill(MemoryDisk::never);
  restart_venue(Durability::interval);
  EXPECT_EQ(rig.venue.session().next_inbound(), in);
}

}  // namespace
}  // namespace nfx::test
