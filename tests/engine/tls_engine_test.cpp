// Certificates of an engine that stands: which sessions' are loaded anew.
#include <gtest/gtest.h>

#include <filesystem>

#include "nexusfix/engine/engine.hpp"
#include "transport/tls_certificates.hpp"

namespace nfx {
namespace {

struct Silent final : Application {
  void on_message(SessionHandle&, const MessageView&) override {}
};

SessionSettings encrypted(const testing::Authority::Files& files, const std::string& peer) {
  SessionSettings settings;
  settings.session.sender_comp_id = "DESK";
  settings.session.target_comp_id = peer;
  settings.tls_enabled = true;
  settings.tls.certificate = files.certificate;
  settings.tls.key = files.key;
  return settings;
}

TEST(TlsEngine, loads_the_files_of_sessions_anew_that_were_added_later_as_long_as_they_are_there) {
  const testing::TemporaryFolder folder;
  testing::Authority authority{folder};
  testing::CertificateWish wish;
  wish.name = "later";
  const auto files = authority.issue(wish);
  Silent application;
  EngineConfig config;
  config.max_dynamic_sessions = 1;
  config.sessions.push_back(encrypted(authority.issue({}), "FIRST"));
  config.sessions[0].session.role = Role::acceptor;
  config.sessions[0].listen = {"127.0.0.1", 0};
  Engine engine{std::move(config), application};
  SessionSettings later = encrypted(files, "LATER");
  later.session.role = Role::initiator;
  later.connect = {{"127.0.0.1", 1}};
  const std::size_t added = engine.add_session(later);
  EXPECT_TRUE(engine.reload_tls().empty());

  std::filesystem::remove(files.certificate);
  const auto problems = engine.reload_tls();
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_TRUE(problems[0].starts_with("FIX.4.4:DESK->LATER: " + files.certificate + ": ")) << problems[0];

  engine.turn(Duration::zero());
  EXPECT_TRUE(engine.remove_session(added, "no longer wanted"));
  for (int i = 0; i < 3; ++i) engine.turn(Duration::zero());
  EXPECT_TRUE(engine.reload_tls().empty());
}

}  // namespace
}  // namespace nfx
