// A reload whose engine answers late, or refuses, with an engine that is a list of sessions.
#include "control/config_reload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace nfx::control {
namespace {

constexpr const char* name = "FIX.4.4:VENUE->DESK";
constexpr std::string_view with_3_digits =
    "[[session]]\nsender_comp_id = \"VENUE\"\ntarget_comp_id = \"DESK\"\nlisten = \"127.0.0.1:9878\"\n"
    "store = \"memory\"\ndictionary = \"none\"\n";
const std::string with_6_digits = std::string{with_3_digits} + "timestamp_digits = 6\n";

// Sessions without a connection; members select which functions are refused.
class ListOfSessions final : public ReloadedEngine {
 public:
  explicit ListOfSessions(std::string_view text = with_3_digits) : config_(read(text).config) {
    for (const SessionSettings& each : config_.sessions) add(identity(each.session), {});
  }

  const EngineConfig& config() const override { return config_; }
  ConfigWithKeys read_file() override { return read(file); }
  SessionList list_sessions() override { return {.sessions = sessions_, .complete = true}; }
  void check_added(const SessionSettings&) const override {}
  void add_session(const SessionSettings& settings, AddedSession as) override {
    if (disk_is_full) throw ConfigError("no space");
    add(identity(settings.session), as);
  }
  CommandOutcome command(std::size_t number, const SessionCommand& command) override {
    commands.push_back(command);
    if (command.kind == late) return {.status = CommandStatus::timed_out};
    const auto session = std::ranges::find(sessions_, number, &SessionStatus::number);
    if (session == sessions_.end()) return {.status = CommandStatus::no_such_session};
    if (std::exchange(connects_now, false)) session->connected = true;
    CommandOutcome outcome{.status = CommandStatus::done, .session = *session};
    if (command.kind != SessionCommandKind::remove) return outcome;
    if (command.unless_connected && session->connected) return {.status = CommandStatus::refused};
    sessions_.erase(session);
    return outcome;
  }
  CommandOutcome change_session(std::size_t, const SessionSettings&, std::string_view) override { return {}; }
  void wait(Duration) override { ++waits; }
  bool stopping() const override { return stops; }

  // The first session, or null.
  [[nodiscard]] SessionStatus* session() { return sessions_.empty() ? nullptr : &sessions_.front(); }

  std::string file{with_6_digits};
  std::optional<SessionCommandKind> late;  // a command that is not taken in time
  bool disk_is_full = false;
  bool connects_now = false;
  bool stops = false;
  int waits = 0;
  std::vector<SessionCommand> commands;

 private:
  void add(const std::string& identity, AddedSession as) {
    SessionStatus& session = sessions_.emplace_back();
    session.name = identity;
    session.number = numbers_++;
    session.enabled = as.enabled;
    session.sending_held = as.sending_held;
  }
  static ConfigWithKeys read(std::string_view text) {
    ConfigWithKeys read{parse_config(text, "engine.toml", "."), keys_of(text, "engine.toml")};
    read.config.file_text = text;
    return read;
  }

  EngineConfig config_;
  std::vector<SessionStatus> sessions_;
  std::size_t numbers_ = 0;
};

class ConfigReloadTest : public ::testing::Test {
 protected:
  ListOfSessions engine;
  ConfigReload reload{engine, "engine.toml"};
};

TEST_F(ConfigReloadTest, a_session_that_is_not_removed_in_time_is_as_it_was) {
  engine.late = SessionCommandKind::remove;
  const ReloadReport left = reload.carry_out("alice");
  EXPECT_EQ(left.status, ReloadStatus::incomplete);
  ASSERT_EQ(left.problems.size(), 1U);
  EXPECT_TRUE(left.problems[0].contains("did not answer in time")) << left.problems[0];
  EXPECT_TRUE(std::ranges::all_of(engine.commands, [](const SessionCommand& each) {
    return row_of(each.kind).only_reads || each.kind == SessionCommandKind::remove;
  }));
  engine.late.reset();
  EXPECT_EQ(reload.carry_out("alice").status, ReloadStatus::done);
  EXPECT_TRUE(engine.session()->enabled);
}

TEST_F(ConfigReloadTest, a_session_that_has_connected_meanwhile_keeps_its_connection) {
  engine.connects_now = true;
  const ReloadReport left = reload.carry_out("alice");
  EXPECT_EQ(left.status, ReloadStatus::incomplete);
  EXPECT_EQ(left.problems, std::vector{std::string{name} + ": it has connected; reload when it is disconnected"});
  EXPECT_TRUE(engine.session()->connected);
}

TEST_F(ConfigReloadTest, a_session_that_could_not_be_added_again_is_disabled_and_held_later_if_it_was_before) {
  engine.session()->enabled = false;
  engine.session()->sending_held = true;
  engine.disk_is_full = true;
  EXPECT_EQ(reload.carry_out("alice").status, ReloadStatus::incomplete);
  EXPECT_FALSE(engine.session());
  engine.disk_is_full = false;
  EXPECT_EQ(reload.carry_out("alice").status, ReloadStatus::done);
  EXPECT_FALSE(engine.session()->enabled);
  EXPECT_TRUE(engine.session()->sending_held);
}

TEST(ConfigReloadOfTwo, what_takes_one_session_away_does_not_take_the_other) {
  std::string two{with_3_digits}, changed{with_6_digits};
  const std::string other = two;
  two += std::string{other}.replace(other.find("DESK"), 4, "NEXT");
  changed += std::string{with_6_digits}.replace(with_6_digits.find("DESK"), 4, "NEXT");
  ListOfSessions engine{two};
  engine.file = changed;
  ConfigReload reload{engine, "engine.toml"};
  engine.disk_is_full = true;
  const ReloadReport left = reload.carry_out("alice");
  EXPECT_EQ(left.status, ReloadStatus::incomplete);
  EXPECT_EQ(left.problems.size(), 2U);
  EXPECT_TRUE(left.problems[1].contains("unchanged: another session could not be added again"));
  EXPECT_EQ(engine.list_sessions().sessions.size(), 1U);
  engine.disk_is_full = false;
  EXPECT_EQ(reload.carry_out("alice").status, ReloadStatus::done);
  EXPECT_EQ(engine.list_sessions().sessions.size(), 2U);
}

TEST_F(ConfigReloadTest, an_engine_that_stops_is_not_changed) {
  engine.stops = true;
  const ReloadReport left = reload.carry_out("alice");
  EXPECT_EQ(left.status, ReloadStatus::incomplete);
  EXPECT_TRUE(left.problems.at(0).contains("the engine stops"));
  EXPECT_TRUE(engine.session());
  EXPECT_EQ(engine.waits, 0);
}

TEST_F(ConfigReloadTest, a_session_that_was_not_in_the_file_for_a_time_is_enabled) {
  engine.session()->enabled = false;
  engine.disk_is_full = true;
  EXPECT_EQ(reload.carry_out("alice").status, ReloadStatus::incomplete);
  std::string other = with_6_digits;
  engine.file = other.replace(other.find("DESK"), 4, "NEXT");
  EXPECT_EQ(reload.carry_out("alice").status, ReloadStatus::incomplete);
  engine.disk_is_full = false;
  engine.file = with_6_digits;
  EXPECT_EQ(reload.carry_out("alice").status, ReloadStatus::done);
  EXPECT_TRUE(engine.session()->enabled);
}

}  // namespace
}  // namespace nfx::control
