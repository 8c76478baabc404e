// What a reload does when its engine answers late, or that it cannot: over an engine that is one session.
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

// One session without a connection; what it is to refuse is set.
class OneSession final : public ReloadedEngine {
 public:
  OneSession() : config_(read(with_3_digits).config) {
    session_.emplace();
    session_->name = name;
  }

  const EngineConfig& config() const override { return config_; }
  ConfigWithKeys read_file() override { return read(file); }
  Engine::SessionList list_sessions() override {
    Engine::SessionList list;
    if (session_) list.sessions.push_back(*session_);
    return list;
  }
  void check_added(const SessionSettings&) const override {}
  void add_session(const SessionSettings&, AddedSession as) override {
    if (disk_is_full) throw ConfigError("no space");
    session_.emplace();
    session_->name = name;
    session_->number = ++numbers_;
    session_->enabled = as.enabled;
    session_->sending_held = as.sending_held;
  }
  CommandOutcome command(std::size_t, const SessionCommand& command) override {
    commands.push_back(command);
    if (command.kind == late) return {.status = CommandStatus::timed_out};
    if (!session_) return {.status = CommandStatus::no_such_session};
    if (std::exchange(connects_now, false)) session_->connected = true;
    CommandOutcome outcome{.status = CommandStatus::done, .session = *session_};
    if (command.kind != SessionCommandKind::remove) return outcome;
    if (command.unless_connected && session_->connected) return {.status = CommandStatus::refused};
    session_.reset();
    return outcome;
  }
  CommandOutcome change_session(std::size_t, const SessionSettings&, std::string_view) override { return {}; }
  void wait(Duration) override {}

  [[nodiscard]] std::optional<SessionStatus>& session() { return session_; }

  std::string file{with_6_digits};
  std::optional<SessionCommandKind> late;  // is not taken in time
  bool disk_is_full = false;
  bool connects_now = false;
  std::vector<SessionCommand> commands;

 private:
  static ConfigWithKeys read(std::string_view text) {
    ConfigWithKeys read{parse_config(text, "engine.toml", "."), keys_of(text, "engine.toml")};
    read.config.file_text = text;
    return read;
  }

  EngineConfig config_;
  std::optional<SessionStatus> session_;
  std::size_t numbers_ = 0;
};

class ConfigReloadTest : public ::testing::Test {
 protected:
  OneSession engine;
  ConfigReload reload{engine, "engine.toml"};
};

TEST_F(ConfigReloadTest, a_session_that_is_not_removed_in_time_is_as_it_was) {
  engine.late = SessionCommandKind::remove;
  const ReloadReport left = reload.carry_out("alice");
  EXPECT_EQ(left.status, ReloadStatus::incomplete);
  ASSERT_EQ(left.problems.size(), 1U);
  EXPECT_TRUE(left.problems[0].contains("did not take the command in time")) << left.problems[0];
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
  EXPECT_EQ(left.problems, std::vector{std::string{name} + ": it has connected meanwhile; reload once it is "
                                                           "disconnected"});
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
