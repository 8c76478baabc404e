// The differences between two versions of a configuration, and the effect of each.
#include "config/config_changes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "config/keys.hpp"
#include "config/live_keys.hpp"

namespace nfx {
namespace {

constexpr const char* changes_base =
    "[engine]\nmax_fields = 65536\n[defaults]\nlisten = \"127.0.0.1:9878\"\n"
    "[[session]]\nsender_comp_id = \"A\"\ntarget_comp_id = \"B\"\n";

std::vector<KeyChange> changes_after(const std::string& before, const std::string& after) {
  return changes_of_session(keys_of(before, "engine.toml").sessions.at(0),
                            keys_of(after, "engine.toml").sessions.at(0));
}

TEST(ConfigChanges, a_default_that_is_written_is_no_change) {
  EXPECT_TRUE(changes_after(changes_base, std::string{changes_base} + "heartbeat_interval_s = 30\n").empty());
  EXPECT_TRUE(
      changes_after(changes_base, std::string{changes_base} + "allowed_addresses = []\nusername = \"\"\n").empty());
  const ConfigKeys one = keys_of(changes_base, "engine.toml");
  const ConfigKeys other = keys_of("[[session]]\n", "engine.toml");
  EXPECT_TRUE(changes_of_engine(one, other).empty()) << "65536 is the default";
}

TEST(ConfigChanges, a_text_and_a_list_of_it_alone_are_the_same) {
  EXPECT_TRUE(changes_after(std::string{changes_base} + "allowed_addresses = \"192.0.2.1\"\n",
                            std::string{changes_base} + "allowed_addresses = [\"192.0.2.1\"]\n")
                  .empty());
}

TEST(ConfigChanges, a_key_of_the_defaults_counts_for_each_session_and_its_own_has_precedence) {
  const std::string moved =
      "[defaults]\nlisten = \"127.0.0.1:9879\"\n[[session]]\nsender_comp_id = \"A\"\n"
      "target_comp_id = \"B\"\nlisten = \"127.0.0.1:9878\"\n";
  EXPECT_TRUE(changes_after(changes_base, moved).empty());
}

TEST(ConfigChanges, a_change_has_both_values_and_the_line_of_the_new_one) {
  const auto changes = changes_after(std::string{changes_base} + "heartbeat_interval_s = 10\n",
                                     std::string{changes_base} + "\nreset_on_logon = true\n");
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].key, "heartbeat_interval_s");
  EXPECT_EQ(changes[0].before, "10");
  EXPECT_EQ(changes[0].after, "30");
  EXPECT_EQ(changes[0].place, "engine.toml:8") << "where it was";
  EXPECT_EQ(changes[1].key, "reset_on_logon");
  EXPECT_EQ(changes[1].before, "false");
  EXPECT_EQ(changes[1].after, "true");
  EXPECT_EQ(changes[1].place, "engine.toml:9");
}

TEST(ConfigChanges, a_secret_is_compared_and_not_shown) {
  const auto changes = changes_after(std::string{changes_base} + "password = \"one\"\nlogon_fields = [\"925=x\"]\n",
                                     std::string{changes_base} + "password = \"two\"\nlogon_fields = [\"925=y\"]\n");
  ASSERT_EQ(changes.size(), 2U);
  for (const KeyChange& each : changes) {
    for (const std::string* text : {&each.before, &each.after}) {
      EXPECT_NE(text->find("***"), std::string::npos) << *text;
      EXPECT_EQ(text->find("one"), std::string::npos);
      EXPECT_EQ(text->find("two"), std::string::npos);
    }
  }
}

TEST(ConfigChanges, a_section_that_comes_or_goes_needs_a_restart) {
  const ConfigKeys before = keys_of(changes_base, "engine.toml");
  const ConfigKeys after = keys_of(std::string{changes_base} +
                                       "[placement]\n[placement.poll]\ncpus = \"1\"\n"
                                       "[log]\nlevel = \"error\"\nkeep_files = 3\n",
                                   "engine.toml");
  const auto changes = changes_of_engine(before, after);
  ASSERT_EQ(changes.size(), 4U);
  EXPECT_EQ(changes[0].section + '.' + changes[0].key, "placement.enabled");
  EXPECT_EQ(changes[1].section + '.' + changes[1].key, "placement.poll.cpus");
  EXPECT_EQ(changes[2].key, "level");
  EXPECT_EQ(changes[2].needs, ChangeNeeds::nothing);
  EXPECT_EQ(changes[3].needs, ChangeNeeds::restart);
  EXPECT_EQ(need_of(changes), ChangeNeeds::restart);
  EXPECT_EQ(changes_of_engine(after, before).size(), 4U);
}

TEST(ConfigChanges, of_quickfix_settings_have_the_line_of_that_file) {
  const std::string text =
      "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=9878\nStartTime=00:00:00\nEndTime=00:00:00\n"
      "[SESSION]\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\nLogonTimeout=";
  const auto changes = changes_of_session(keys_of(text + "10\n", "broker.cfg").sessions.at(0),
                                          keys_of(text + "20\n", "broker.cfg").sessions.at(0));
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].key, "logon_timeout_s");
  EXPECT_EQ(changes[0].place, "broker.cfg:10");
  EXPECT_EQ(changes[0].needs, ChangeNeeds::nothing);
}

TEST(LiveKeys, are_keys_of_a_session_each_once) {
  for (const std::string_view key : live_keys) {
    EXPECT_NE(std::ranges::find(config::session_keys(), key, &config::Key<config::SessionDraft>::name),
              config::session_keys().end())
        << key;
    EXPECT_EQ(std::ranges::count(live_keys, key), 1) << key;
  }
}

// After the swap, exactly the changed live keys differ.
TEST(LiveKeys, exchange_exactly_their_members) {
  EngineConfig one = parse_config(changes_base, "engine.toml", ".");
  EngineConfig two = parse_config(std::string{changes_base} +
                                      "heartbeat_timeout_percent = 500\ntimestamp_digits = 6\nusername = \"me\"\n"
                                      "slow_consumer = \"disconnect\"\n",
                                  "engine.toml", ".");
  swap_live_settings(one.sessions[0], two.sessions[0]);
  EXPECT_EQ(one.sessions[0].session.heartbeat_timeout_percent, 500U);
  EXPECT_EQ(one.sessions[0].session.username, "me");
  EXPECT_EQ(one.sessions[0].slow_consumer, SlowConsumer::disconnect);
  EXPECT_EQ(one.sessions[0].session.timestamp_digits, 3U);
  EXPECT_EQ(two.sessions[0].session.heartbeat_timeout_percent, 240U);
  EXPECT_EQ(two.sessions[0].session.username, "");
  EXPECT_EQ(two.sessions[0].session.timestamp_digits, 6U);
}

TEST(LiveKeys, are_listed_in_the_documentation) {
  std::ifstream in{NFX_SOURCE_DIR "/docs/control.md"};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  for (const std::string_view key : live_keys)
    EXPECT_NE(text.find('`' + std::string{key} + '`'), std::string::npos) << key;
}

}  // namespace
}  // namespace nfx
