// Which messages become traces, the contents of a trace, and its format for OpenTelemetry.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "engine/loop_rig.hpp"
#include "engine/trace_log.hpp"
#include "engine/trace_sampler.hpp"
#include "log/log_folder.hpp"

namespace nfx::test {
namespace {

class Traces : public ::testing::Test {
 protected:
  void start(std::uint32_t every, LoopbackOptions options = {}) {
    rig.emplace(options);
    rig->venue.config.sessions = {acceptor()};
    rig->venue.config.log.directory = "not written by a loop";
    rig->venue.config.log.trace_every = every;
    rig->trader.config.sessions = {initiator()};
    rig->start_both();
    ASSERT_TRUE(rig->venue.session().logged_on());
    rig->turn(4);
  }
  void send_orders(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_TRUE(
          rig->trader.session().send({.msg_type = "D", .body = std::string_view{order(i)}, .header_fields = {}}));
    rig->trader.loop->turn(0ns);
  }
  void answer_after(Duration time) {
    rig->venue.application.when_message = [this, time](SessionHandle& session, const MessageView&) {
      rig->clock.advance(time);
      ASSERT_TRUE(session.send({.msg_type = "8", .body = std::string_view{order(1)}, .header_fields = {}}));
    };
  }
  [[nodiscard]] std::vector<TraceRecord> traces() {
    rig->venue.loop->count_latency();
    std::vector<TraceRecord> records;
    rig->venue.loop->traces()->take(records);
    return records;
  }

  std::optional<LoopRig> rig;
};

TEST_F(Traces, an_order_and_its_report_are_one) {
  start(1);
  rig->venue.application.when_traffic = [this](SessionHandle&, Direction direction) {
    rig->clock.advance(direction == Direction::in ? 3us : 500ns);
  };
  answer_after(20us);
  const MonotonicTime read = rig->clock.now().monotonic;
  send_orders(1);
  rig->venue.loop->turn(0ns);
  const auto records = traces();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_GE(records[0].read, read);
  EXPECT_EQ(records[0].before_read, 0ns) << "this network has no time stamps";
  EXPECT_EQ(records[0].called, 3us);
  EXPECT_EQ(records[0].back, 23500ns);
  EXPECT_EQ(records[0].left, 23500ns);
  EXPECT_EQ(records[0].seq_num, SeqNum{2}) << "the Logon was 1";
  EXPECT_NE(records[0].session, 0U);
  EXPECT_EQ(records[0].wait, SendWait::nothing);
}

TEST_F(Traces, what_is_not_answered_ends_with_its_callback) {
  start(1);
  rig->venue.application.when_message = [this](SessionHandle&, const MessageView&) { rig->clock.advance(40us); };
  send_orders(1);
  rig->venue.loop->turn(0ns);
  const auto records = traces();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].back, 40us);
  EXPECT_EQ(records[0].left, 0ns);
}

TEST_F(Traces, are_of_every_third_message) {
  start(3);
  answer_after(1us);
  for (int i = 0; i < 10; ++i) {
    send_orders(1);
    rig->venue.loop->turn(0ns);
    rig->venue.loop->turn(0ns);
  }
  std::vector<std::uint64_t> numbers;
  for (const TraceRecord& record : traces()) numbers.push_back(std::to_underlying(record.seq_num));
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{4, 7, 10}));
}

TEST_F(Traces, of_answers_that_leave_together_are_of_the_chosen_message) {
  start(2);
  answer_after(10us);
  send_orders(2);
  rig->venue.loop->turn(0ns);
  const auto records = traces();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].seq_num, SeqNum{3});
  EXPECT_EQ(records[0].called, 10us) << "it waited for the callback of the first";
  EXPECT_EQ(records[0].back, 20us);
  EXPECT_EQ(records[0].left, 20us);
}

TEST_F(Traces, wait_with_the_answer_for_a_peer_that_does_not_read) {
  start(1, {.stream_buffer = 4096});
  rig->venue.application.when_message = [](SessionHandle& session, const MessageView&) {
    for (int i = 0; i < 8; ++i)
      ASSERT_TRUE(session.send(
          {.msg_type = "8", .body = std::string_view{field(58, std::string(1000, 'x'))}, .header_fields = {}}));
  };
  send_orders(1);
  rig->venue.loop->turn(0ns);
  EXPECT_TRUE(traces().empty());
  rig->clock.advance(5ms);
  rig->turn(8);
  const auto records = traces();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_GE(records[0].left, 5ms);
  EXPECT_EQ(records[0].wait, SendWait::peer);
}

TEST_F(Traces, there_are_none_unless_configured) {
  start(0);
  EXPECT_EQ(rig->venue.loop->traces(), nullptr);
}

TraceRecord of_session(std::uint64_t session) {
  TraceRecord record;
  record.session = session;
  return record;
}

TEST(TraceSampler, counts_the_answers_that_leave_before) {
  TraceRing ring;
  TraceSampler sampler;
  sampler.begin(ring, 1);
  sampler.follow(of_session(7), 3);
  sampler.left(8, 5, MonotonicTime{1us}, SendWait::nothing);  // of another session
  sampler.left(7, 2, MonotonicTime{2us}, SendWait::disk);
  std::vector<TraceRecord> records;
  ring.take(records);
  EXPECT_TRUE(records.empty());
  sampler.left(7, 1, MonotonicTime{3us}, SendWait::peer);
  sampler.left(7, 1, MonotonicTime{4us}, SendWait::nothing);
  ring.take(records);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].left, 3us);
  EXPECT_EQ(records[0].wait, SendWait::peer);
}

TEST(TraceSampler, an_answer_that_never_left_is_left_out_when_the_next_message_is_due) {
  TraceRing ring;
  TraceSampler sampler;
  sampler.begin(ring, 1);
  sampler.follow(of_session(7), 1);
  sampler.follow(of_session(8), 0);
  std::vector<TraceRecord> records;
  ring.take(records);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].session, 7U);
  EXPECT_EQ(records[0].left, 0ns);
  EXPECT_EQ(records[1].session, 8U);
}

TEST(TraceRing, counts_what_does_not_fit) {
  TraceRing ring;
  for (std::size_t i = 0; i < TraceRing::capacity + 5; ++i) ring.push(of_session(i));
  std::vector<TraceRecord> records;
  ring.take(records);
  EXPECT_EQ(records.size() + ring.lost(), TraceRing::capacity + 5);
  EXPECT_GE(ring.lost(), 1U);
}

NamedTrace an_order() {
  NamedTrace trace;
  trace.record = {.read = MonotonicTime{5s},
                  .before_read = 2us,
                  .called = 1us,
                  .back = 10us,
                  .left = 12us,
                  .session = 1,
                  .seq_num = SeqNum{42},
                  .wait = SendWait::nothing};
  trace.session = "FIX.4.4:A\"\n->B\xff";
  return trace;
}

// Identifiers are replaced by the order in which they come.
std::string with_short_ids(std::string text, std::size_t digits, std::string name) {
  for (int number = 1;; ++number) {
    const auto is_hex = [](char c) { return std::string_view{"0123456789abcdef"}.contains(c); };
    std::size_t at = 0;
    std::string id;
    for (std::size_t quote = text.find('"'); quote != std::string::npos; quote = text.find('"', quote + 1)) {
      const std::string each = text.substr(quote + 1, digits);
      if (each.size() == digits && std::ranges::all_of(each, is_hex) && text[quote + 1 + digits] == '"') {
        at = quote;
        id = each;
        break;
      }
    }
    if (at == 0) return text;
    while ((at = text.find('"' + id + '"')) != std::string::npos)
      text.replace(at + 1, digits, name + std::to_string(number));
  }
}

TEST(OtlpLine, has_the_whole_way_and_a_span_for_each_stage) {
  std::mt19937_64 random{1};
  const std::vector<NamedTrace> traces{an_order()};
  const std::string line = otlp_line(traces, {UtcTime{1'795'000'000s}, MonotonicTime{6s}}, random);
  const auto span = [](const std::string& id, const std::string& parent, const std::string& name, int kind,
                       const std::string& begin, const std::string& end, const std::string& more = "") {
    return R"({"traceId":"trace1","spanId":")" + id + R"(",)" +
           (parent.empty() ? "" : R"("parentSpanId":")" + parent + R"(",)") + R"("name":")" + name + R"(","kind":)" +
           std::to_string(kind) + R"(,"startTimeUnixNano":"17949999)" + begin + R"(","endTimeUnixNano":"17949999)" +
           end + "\"" + more + "}";
  };
  const std::string expected =
      R"({"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"nexusfix"}},)"
      R"({"key":"process.pid","value":{"intValue":")" +
      std::to_string(::getpid()) + R"("}}]},"scopeSpans":[{"scope":{"name":"nexusfix"},"spans":[)" +
      span("span1", "", "message", 2, "98999998000", "99000012000",
           R"(,"attributes":[{"key":"nexusfix.session","value":{"stringValue":"FIX.4.4:A\"\n->B\ufffd"}},)"
           R"({"key":"nexusfix.msg_seq_num","value":{"intValue":"42"}},)"
           R"({"key":"nexusfix.answer_waited_for","value":{"stringValue":"nothing"}},)"
           R"({"key":"thread.name","value":{"stringValue":"nfx-poll-0"}}])") +
      "," + span("span2", "span1", "kernel_to_read", 1, "98999998000", "99000000000") + "," +
      span("span3", "span1", "read_to_application", 1, "99000000000", "99000001000") + "," +
      span("span4", "span1", "in_application", 1, "99000001000", "99000010000") + "," +
      span("span5", "span1", "commit_to_socket", 1, "99000010000", "99000012000") + "]}]}]}\n";
  EXPECT_EQ(with_short_ids(with_short_ids(line, 32, "trace"), 16, "span"), expected);
}

TEST(TraceLog, appends_a_line_for_each_batch) {
  const LogFolder folder;
  LogConfig config;
  config.directory = folder.path().string();
  const std::vector<NamedTrace> traces{an_order(), an_order()};
  {
    TraceLog log{config, [](std::string_view text) { ADD_FAILURE() << text; }};
    log.write(traces, {UtcTime{1'795'000'000s}, MonotonicTime{6s}});
    log.write({}, {UtcTime{1'795'000'000s}, MonotonicTime{6s}});
    log.write(traces, {UtcTime{1'795'000'001s}, MonotonicTime{7s}});
    EXPECT_EQ(log.lost(), 0U);
  }
  std::vector<std::filesystem::path> files{std::filesystem::directory_iterator{folder.path()}, {}};
  ASSERT_EQ(files.size(), 1U);
  EXPECT_TRUE(files[0].filename().string().starts_with("traces-20261118-")) << files[0];
  std::ifstream file{files[0]};
  std::size_t lines = 0;
  for (std::string line; std::getline(file, line); ++lines) EXPECT_TRUE(line.starts_with(R"({"resourceSpans":)"));
  EXPECT_EQ(lines, 2U);
}

TEST(TraceLog, counts_what_cannot_be_written_and_reports_it_once) {
  const LogFolder folder;
  LogConfig config;
  config.directory = (folder.path() / "traces").string();
  std::vector<std::string> alerts;
  TraceLog log{config, [&](std::string_view text) { alerts.emplace_back(text); }};
  std::filesystem::remove_all(config.directory);
  std::ofstream{config.directory} << "a file where the folder was";
  const std::vector<NamedTrace> traces{an_order()};
  for (int i = 0; i < 3; ++i) log.write(traces, {UtcTime{1'795'000'000s}, MonotonicTime{6s}});
  EXPECT_EQ(log.lost(), 3U);
  ASSERT_EQ(alerts.size(), 1U);
  EXPECT_TRUE(alerts[0].starts_with("traces are lost: ")) << alerts[0];
}

TEST(TraceLog, refuses_a_folder_that_cannot_be_used) {
  const LogFolder folder;
  LogConfig config;
  config.directory = (folder.path() / "file").string();
  std::ofstream{config.directory} << "a file";
  try {
    const TraceLog log{config, [](std::string_view) {}};
    FAIL() << "it was taken";
  } catch (const ConfigError& error) {
    EXPECT_TRUE(std::string{error.what()}.starts_with("[log] ")) << error.what();
  }
}

}  // namespace
}  // namespace nfx::test
