// Certificates of a running engine: which sessions' are reloaded.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "nexusfix/engine/engine.hpp"
#include "transport/tls_certificates.hpp"

namespace nfx {
namespace {

struct Silent final : Application {
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }
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
  const test::TemporaryFolder folder;
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
  EXPECT_TRUE(problems[0].starts_with("FIX.4.4:DESK->LATER: cannot read " + files.certificate + ": ")) << problems[0];

  engine.turn(Duration::zero());
  EXPECT_TRUE(engine.remove_session(added, "no longer wanted"));
  for (int i = 0; i < 3; ++i) engine.turn(Duration::zero());
  EXPECT_TRUE(engine.reload_tls().empty());
}

// A venue for C1, C2 and every peer that a template accepts, all on one address, and clients with certificates of their
// own.
class SharedAddress : public ::testing::Test {
 protected:
  SharedAddress() {
    EngineConfig config;
    config.sessions = {at_venue("C1", "c1.example"), at_venue("C2", "c2.example"),
                       at_venue("T-*", "{TargetCompID}.example")};
    config.sessions[2].is_template = true;
    venue_.emplace(std::move(config), application_);
    venue_->start();
  }
  // Whether the holder of a certificate with this name logs on as that session.
  bool logs_on(const std::string& certificate, const std::string& comp_id) {
    testing::CertificateWish wish;
    wish.name = certificate;
    wish.alternative_names = "DNS:" + certificate;
    EngineConfig config;
    config.sessions = {encrypted(authority_.issue(wish), "VENUE")};
    SessionSettings& session = config.sessions[0];
    session.session.role = Role::initiator;
    session.session.sender_comp_id = comp_id;
    session.connect = {*venue_->local_endpoint(0)};
    session.tls.ca = authority_.file();
    Engine client{std::move(config), application_};
    const std::uint64_t rejected = venue_->counters().certificate;
    for (int i = 0; i < 5000; ++i) {
      client.turn(std::chrono::milliseconds{1});
      venue_->turn(std::chrono::milliseconds{1});
      if (client.session(0)->logged_on()) return true;
      if (venue_->counters().certificate != rejected) return false;
    }
    ADD_FAILURE() << "neither accepted nor refused: " << certificate << " as " << comp_id;
    return false;
  }

 private:
  SessionSettings at_venue(const std::string& peer, const std::string& name) {
    SessionSettings settings = encrypted(server_, peer);
    settings.session.role = Role::acceptor;
    settings.session.sender_comp_id = "VENUE";
    settings.listen = {"127.0.0.1", 0};
    settings.tls.client_certificate = ClientCertificate::require;
    settings.tls.ca = authority_.file();
    settings.tls.peer_names = {name};
    return settings;
  }

  const test::TemporaryFolder folder_;
  testing::Authority authority_{folder_};
  const testing::Authority::Files server_ = authority_.issue({});
  Silent application_;
  std::optional<Engine> venue_;
};

TEST_F(SharedAddress, lets_each_certificate_log_on_as_the_session_that_names_it_and_as_no_other) {
  EXPECT_FALSE(logs_on("c1.example", "C2"));
  EXPECT_TRUE(logs_on("c1.example", "C1"));
  EXPECT_FALSE(logs_on("c2.example", "C1"));
  EXPECT_TRUE(logs_on("c2.example", "C2"));
}

TEST_F(SharedAddress, compares_the_peer_s_comp_id_with_the_certificate_where_a_template_says_so) {
  EXPECT_FALSE(logs_on("T-1.example", "T-2"));
  EXPECT_FALSE(logs_on("c1.example", "T-1"));
  EXPECT_TRUE(logs_on("T-1.example", "T-1"));
}

// The processor time that a thread of this process with this name has used, in nanoseconds; empty: there is no such
// thread.
std::optional<long> time_of_thread(const std::string& wanted) {
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::string name;
    std::getline(std::ifstream{task.path() / "comm"}, name);
    if (name != wanted) continue;
    std::string text;
    std::getline(std::ifstream{task.path() / "schedstat"}, text);
    return std::stol(text);
  }
  return std::nullopt;
}

TEST_F(SharedAddress, has_a_thread_that_computes_the_handshakes) {
  const auto before = time_of_thread("nfx-tls-0");
  ASSERT_TRUE(before.has_value());
  EXPECT_TRUE(logs_on("c1.example", "C1"));
  EXPECT_GT(time_of_thread("nfx-tls-0").value_or(0), *before);
}

}  // namespace
}  // namespace nfx
