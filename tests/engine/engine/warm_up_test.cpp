// A poll loop that rehearses the next message of its silent sessions, beside one that does not.
#include <gtest/gtest.h>

#include <array>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "engine/engine_counter_rows.hpp"
#include "engine/journal_session.hpp"
#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/engine/latency.hpp"

namespace nfx::test {
namespace {

// Answers each order with a report, and in a rehearsal too.
class Venue final : public RecordingApplication {
 public:
  Venue() {
    when_message = [this](SessionHandle& session, const MessageView& message) {
      if (answers) answer(session, message);
    };
  }
  void on_rehearsal(SessionHandle& session, const MessageView& message) override {
    rehearsed.emplace_back(message.get_view(Tag::ClOrdID));
    ids.push_back(session.id());
    if (throws) throw std::runtime_error{"rehearsed"};
    answer(session, message);
  }
  void answer(SessionHandle& session, const MessageView& message) {
    const std::string body = field(11, message.get_view(Tag::ClOrdID));
    if (session.send({.msg_type = "8", .body = body, .header_fields = {}})) ++sent;
  }

  bool answers = true, throws = false;
  std::size_t sent = 0;
  std::vector<std::string> rehearsed;
  std::vector<std::size_t> ids;
};

// A venue with a journal that may rehearse, and a trader that may as well.
class Market : public JournalSession {
 public:
  using JournalSession::reports_received;
  using JournalSession::rig;

  ~Market() override { rig.venue.loop.reset(); }
  void TestBody() override {}

  void open(bool warm, std::uint64_t first_order = 1) {
    next_order = first_order;
    stores.emplace(disk, [] {});
    rig.venue.config.sessions = {with_journal(settings, durability, "venue")};
    rig.venue.config.max_message_size = 8192;
    rig.venue.loop.emplace(rig.venue.config, 0, rig.venue.transport, rig.clock, program, *stores);
    rig.venue.loop->start();
    rig.trader.config.sessions = {initiator()};
    rig.trader.start();
    if (!warm) return;
    rig.venue.loop->warm_up_every(1ms);
    rig.trader.loop->warm_up_every(1ms);
  }
  void log_on() {
    turn(6);
    rig.clock.advance(20ms);
    turn(6);
    ASSERT_TRUE(rig.venue.session().logged_on());
  }
  void trade(int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(order(std::to_string(next_order++)));
      turn(3);
    }
  }
  void be_silent(int milliseconds) {
    for (int i = 0; i < milliseconds; ++i) {
      rig.clock.advance(1ms);
      turn();
    }
  }
  [[nodiscard]] std::uint64_t rehearsals() const { return rig.venue.loop->warm_up().rehearsals(); }

  // Everything that anybody sees of the venue's session.
  std::string seen() {
    SessionHandle& session = rig.venue.session();
    std::string text;
    for (const std::string& each : program.at().traffic_out) text += each + '\n';
    for (const std::string& each : rig.trader.application.at().traffic_out) text += each + '\n';
    for (const auto& row : counter_rows<SessionCounters>)
      text += std::string{row.metric} + ' ' + std::to_string(session.counters().*row.member) + '\n';
    for (const auto& row : counter_rows<PollLoopCounters>)
      text += std::string{row.metric} + ' ' + std::to_string(rig.venue.loop->counters().*row.member) + '\n';
    text += std::to_string(value(session.next_inbound())) + ' ' + std::to_string(value(session.next_outbound())) + '\n';
    rig.venue.loop->count_latency();
    LatencyReport report;
    rig.venue.loop->add_latency(report);
    std::istringstream latencies{hdr_log_text(report)};
    for (std::string line; std::getline(latencies, line);) {
      if (line.find("durable_lag") == std::string::npos) text += line + '\n';  // the flusher measures it in real time
    }
    rig.clock.advance(20ms);
    turn(3);
    text += std::to_string(session.journal()->position()) + '\n';
    const auto folders = disk.list("/venue");
    for (const std::string& folder : folders.value()) {
      const auto files = disk.list("/venue/" + folder);
      if (!files) continue;
      for (const std::string& file : *files) {
        if (file.ends_with(".nfxj")) text += disk.bytes("/venue/" + folder + "/" + file);
      }
    }
    return text;
  }

  SessionSettings settings = acceptor();
  Durability durability = Durability::interval;
  std::uint64_t next_order = 1;
  Venue program;  // outlives the loop, which the rig has
};

std::string a_day(Durability durability, bool warm, std::uint64_t& rehearsals) {
  Market market;
  market.durability = durability;
  market.open(warm);
  market.be_silent(200);  // most of it before the Logon
  market.log_on();
  market.trade(5);
  market.be_silent(1000);
  market.trade(5);
  market.be_silent(10);
  rehearsals = market.rehearsals();
  return market.seen();
}

TEST(WarmUp, a_thousand_rehearsals_change_no_byte_number_counter_latency_or_journal) {
  for (const Durability durability : {Durability::interval, Durability::group}) {
    std::uint64_t with = 0, without = 0;
    const std::string cold = a_day(durability, false, without), warm = a_day(durability, true, with);
    EXPECT_EQ(without, 0U);
    EXPECT_GE(with, 1000U);
    EXPECT_EQ(warm, cold);
    EXPECT_NE(cold.find("35=8"), std::string::npos);
  }
}

TEST(WarmUp, the_last_message_of_a_session_is_rehearsed_by_a_session_with_its_number) {
  Market market;
  market.open(true, 70);
  market.log_on();
  market.be_silent(5);
  ASSERT_FALSE(market.program.rehearsed.empty());
  EXPECT_NE(market.program.rehearsed.back(), "70");  // it is made
  market.trade(1);
  market.be_silent(5);
  EXPECT_EQ(market.program.rehearsed.back(), "70");  // learned
  EXPECT_EQ(market.program.ids.back(), market.rig.venue.session().id());
  EXPECT_EQ(market.program.at().orders, std::vector<std::string>{"70"});
  EXPECT_EQ(market.reports_received(), 1U);
  EXPECT_GT(market.program.sent, 5U);  // by the rehearsals, to nobody
}

TEST(WarmUp, a_message_of_the_dictionary_is_rehearsed_before_the_logon) {
  for (const char* version : {"FIX40", "FIX42", "FIX44"}) {
    Market market;
    market.settings.session.begin_string = std::string{"FIX."} + version[3] + '.' + version[4];
    market.settings.dictionary = std::make_shared<const Dictionary>(
        load_dictionary(std::string{NFX_SOURCE_DIR "/dictionaries/"} + version + ".xml"));
    market.settings.session.dictionary = market.settings.dictionary.get();
    market.open(true);
    market.rig.venue.loop->turn(0ns);
    market.rig.venue.loop->turn(0ns);
    EXPECT_EQ(market.program.rehearsed.size(), 1U) << version;
    EXPECT_FALSE(market.rig.venue.session().logged_on());
  }
}

TEST(WarmUp, nothing_is_rehearsed_between_messages_without_silence) {
  Market market;
  market.open(true);
  market.log_on();
  market.trade(1);
  const std::uint64_t before = market.rehearsals();
  for (int i = 0; i < 100; ++i) {
    market.rig.clock.advance(500us);
    market.trade(1);
  }
  EXPECT_EQ(market.rehearsals(), before);
}

TEST(WarmUp, a_program_that_throws_in_a_rehearsal_keeps_its_session_and_rehearses_no_more) {
  Market market;
  market.program.throws = true;
  market.open(true);
  market.log_on();
  market.be_silent(50);
  EXPECT_EQ(market.program.rehearsed.size(), 1U);
  EXPECT_EQ(market.rig.venue.session().counters().callback_exceptions, 0U);
  market.trade(3);
  EXPECT_EQ(market.reports_received(), 3U);
}

TEST(WarmUp, a_loop_that_stops_ends_as_one_that_does_not_rehearse) {
  Market market;
  market.open(true);
  market.log_on();
  market.be_silent(10);
  market.rig.venue.loop->request_stop();
  market.be_silent(5);
  EXPECT_TRUE(market.rig.venue.loop->finished());
}

}  // namespace
}  // namespace nfx::test
