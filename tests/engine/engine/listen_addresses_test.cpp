// Listen addresses of sessions that come and go while an engine runs: what sessions that share one must have in common,
// and until when the engine listens there.
#include "engine/listen_addresses.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "engine/engine_operations.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/engine/observer.hpp"
#include "transport/epoll_transport.hpp"
#include "transport/loopback.hpp"
#include "transport/tls_certificates.hpp"

namespace nfx {
namespace {

struct Silent final : Application, Observer {
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }
  void on_added(SessionHandle&) override { ++added; }
  void on_removed(SessionHandle&) override { ++removed; }
  int added = 0;
  int removed = 0;
};

SessionSettings acceptor_for(const std::string& peer, const Endpoint& listen) {
  SessionSettings settings;
  settings.session.role = Role::acceptor;
  settings.session.sender_comp_id = "VENUE";
  settings.session.target_comp_id = peer;
  settings.listen = listen;
  return settings;
}

// A free address of this host.
Endpoint free_address() { return {"127.0.0.1", test::free_port()}; }

bool is_free(const Endpoint& address) { return EpollTransport{}.listen(address).has_value(); }

// An engine with a session with TLS elsewhere, turned by the test.
class ListenAddressesOfAnEngine : public ::testing::Test {
 protected:
  ListenAddressesOfAnEngine() {
    config.poll_threads = 2;
    config.sessions = {encrypted(acceptor_for("FIRST", {"127.0.0.1", 0}))};
  }
  SessionSettings encrypted(SessionSettings settings) {
    settings.tls_enabled = true;
    settings.tls.certificate = server.certificate;
    settings.tls.key = server.key;
    settings.tls.ca = authority.file();
    settings.tls.client_certificate = ClientCertificate::require;
    return settings;
  }
  Engine& start() {
    engine.emplace(config, application);
    engine->start();
    return *engine;
  }
  void turn() {
    for (int i = 0; i < 4; ++i) engine->turn(Duration::zero());
  }
  // The reason why add_session() refuses these settings; check_added() must refuse them for the same reason. Empty: it
  // accepts them.
  std::string refusal_of(const SessionSettings& settings) {
    std::string planned;
    try {
      EngineOperations{*engine}.check_added(settings);
    } catch (const ConfigError& error) {
      planned = error.what();
    }
    try {
      static_cast<void>(engine->add_session(settings));
    } catch (const ConfigError& error) {
      EXPECT_EQ(planned, error.what());
      return error.what();
    }
    EXPECT_EQ(planned, "");
    return {};
  }

  const test::TemporaryFolder folder;
  testing::Authority authority{folder};
  const testing::Authority::Files server = authority.issue({});
  const Endpoint address = free_address();
  Silent application;
  EngineConfig config;
  std::optional<Engine> engine;
};

TEST_F(ListenAddressesOfAnEngine, take_no_session_with_tls_where_an_added_one_without_is_listened_for) {
  start();
  EXPECT_EQ(refusal_of(acceptor_for("PLAIN", address)), "");
  turn();
  EXPECT_EQ(refusal_of(encrypted(acceptor_for("SECRET", address))),
            "session FIX.4.4:VENUE->SECRET: tls: sessions that share listen = \"" + to_string(address) +
                "\" must share their tls and tls_... settings except tls_peer_names: the session is known only after "
                "the TLS handshake");
  EXPECT_EQ(engine->find_session({"FIX.4.4", "VENUE", "SECRET"}), std::nullopt);
}

TEST_F(ListenAddressesOfAnEngine, take_no_session_that_another_poll_thread_would_have_to_serve) {
  start();
  EXPECT_EQ(refusal_of(acceptor_for("ONE", address)), "");
  SessionSettings other = acceptor_for("OTHER", address);
  other.poll_thread = 1;
  EXPECT_EQ(refusal_of(other), "session FIX.4.4:VENUE->OTHER: poll_thread: sessions that share listen = \"" +
                                   to_string(address) + "\" must share their poll_thread");
}

TEST_F(ListenAddressesOfAnEngine, take_no_session_with_other_socket_options_or_one_that_a_logon_could_not_name) {
  start();
  EXPECT_EQ(refusal_of(acceptor_for("ONE", address)), "");
  SessionSettings other = acceptor_for("OTHER", address);
  other.socket.nodelay = false;
  EXPECT_TRUE(refusal_of(other).contains("must share their tcp_nodelay"));
  SessionSettings same = acceptor_for("ONE", address);
  same.session.session_qualifier = "second";
  EXPECT_TRUE(refusal_of(same).contains("session_qualifier: is not sent in a Logon"));
}

TEST_F(ListenAddressesOfAnEngine, are_the_same_for_a_session_that_is_changed) {
  start();
  const std::size_t one = engine->add_session(acceptor_for("ONE", address));
  static_cast<void>(engine->add_session(acceptor_for("OTHER", address)));
  turn();
  EXPECT_THROW(static_cast<void>(
                   EngineOperations{*engine}.change_session(one, encrypted(acceptor_for("ONE", address)), "changed")),
               ConfigError);
}

TEST_F(ListenAddressesOfAnEngine, are_free_when_their_last_session_has_gone_and_take_any_other_one_then) {
  start();
  const std::size_t one = engine->add_session(acceptor_for("ONE", address));
  const std::size_t other = engine->add_session(acceptor_for("OTHER", address));
  turn();
  EXPECT_FALSE(is_free(address));
  EXPECT_TRUE(engine->remove_session(one, {}));
  turn();
  EXPECT_FALSE(is_free(address)) << "the other one is there";
  EXPECT_TRUE(refusal_of(encrypted(acceptor_for("SECRET", address))).contains("must share their tls"));
  EXPECT_TRUE(engine->remove_session(other, {}));
  turn();
  EXPECT_TRUE(is_free(address));
  EXPECT_EQ(refusal_of(encrypted(acceptor_for("SECRET", address))), "");
  turn();
  EXPECT_FALSE(is_free(address));
  EXPECT_TRUE(refusal_of(acceptor_for("PLAIN", address)).contains("must share their tls"));
}

// As a reload replaces it.
TEST_F(ListenAddressesOfAnEngine, take_their_only_session_with_other_settings) {
  config.sessions.push_back(acceptor_for("ALONE", address));
  start();
  EXPECT_NO_THROW(EngineOperations{*engine}.check_added(encrypted(acceptor_for("ALONE", address))));
  EXPECT_TRUE(engine->remove_session(1, {}));
  turn();
  EXPECT_EQ(refusal_of(encrypted(acceptor_for("ALONE", address))), "");
  turn();
  EXPECT_FALSE(is_free(address));
  EXPECT_TRUE(refusal_of(acceptor_for("PLAIN", address)).contains("must share their tls"));
}

TEST_F(ListenAddressesOfAnEngine, are_left_when_a_session_moves) {
  config.sessions.push_back(acceptor_for("ALONE", address));
  start();
  EXPECT_TRUE(engine->remove_session(1, {}));
  turn();
  const Endpoint elsewhere = free_address();
  EXPECT_EQ(refusal_of(acceptor_for("ALONE", elsewhere)), "");
  turn();
  EXPECT_TRUE(is_free(address));
  EXPECT_FALSE(is_free(elsewhere));
}

TEST_F(ListenAddressesOfAnEngine, stay_with_their_template) {
  config.sessions.push_back(acceptor_for("*", address));
  config.sessions[1].is_template = true;
  start();
  const std::size_t one = engine->add_session(acceptor_for("ONE", address));
  turn();
  EXPECT_TRUE(engine->remove_session(one, {}));
  turn();
  EXPECT_EQ(application.removed, 1);
  EXPECT_FALSE(is_free(address));
  EXPECT_TRUE(refusal_of(encrypted(acceptor_for("SECRET", address))).contains("must share their tls"));
}

TEST_F(ListenAddressesOfAnEngine, keep_the_port_that_the_kernel_has_chosen_while_a_session_is_there) {
  config.sessions = {acceptor_for("ONE", {"127.0.0.1", 0}), acceptor_for("OTHER", {"127.0.0.1", 0})};
  start();
  const auto before = engine->local_endpoint(1);
  ASSERT_TRUE(before);
  EXPECT_TRUE(engine->remove_session(0, {}));
  turn();
  EXPECT_EQ(engine->local_endpoint(1), before);
  EXPECT_TRUE(engine->remove_session(1, {}));
  turn();
  EXPECT_EQ(engine->local_endpoint(1), std::nullopt);
  EXPECT_TRUE(is_free(*before));
}

// Another program has taken the address after it was checked: here, before the poll thread's next iteration.
TEST_F(ListenAddressesOfAnEngine, that_cannot_be_listened_on_any_more_keep_no_session) {
  start();
  static_cast<void>(engine->add_session(acceptor_for("LATE", address)));
  {
    EpollTransport other;
    ASSERT_TRUE(other.listen(address));
    turn();
    EXPECT_EQ(application.added, 1);
    EXPECT_EQ(application.removed, 1);
    EXPECT_EQ(engine->find_session({"FIX.4.4", "VENUE", "LATE"}), std::nullopt);
    EXPECT_TRUE(refusal_of(acceptor_for("LATE", address)).contains("Address already in use"));
  }
  EXPECT_EQ(refusal_of(encrypted(acceptor_for("LATE", address))), "");
}

TEST_F(ListenAddressesOfAnEngine, are_not_taken_by_a_session_that_has_no_place) {
  config.max_dynamic_sessions = 0;
  start();
  EXPECT_THROW(static_cast<void>(engine->add_session(acceptor_for("ONE", address))), ConfigError);
  EXPECT_NO_THROW(EngineOperations{*engine}.check_added(encrypted(acceptor_for("OTHER", address))));
}

// A session of a cluster keeps its place, also while another gateway owns it.
TEST(ListenAddresses, of_replicated_sessions_are_kept_and_are_listened_on_while_one_is_owned_here) {
  const Endpoint address = free_address();
  EngineConfig config;
  config.sessions = {acceptor_for("ONE", address)};
  config.sessions[0].store_kind = StoreKind::journal;
  config.sessions[0].journal.durability = Durability::replicated;
  config.sessions[0].journal.directory = "store";
  ListenAddresses addresses{config};
  SessionSettings other = acceptor_for("OTHER", address);
  EXPECT_NO_THROW(addresses.check(other));
  other.socket.nodelay = false;
  EXPECT_THROW(addresses.check(other), ConfigError);
  {
    EpollTransport program;
    ASSERT_TRUE(program.listen(address));
    EXPECT_THROW(addresses.require_free(other), ConfigError);
    addresses.join(config.sessions[0], {});
    EXPECT_NO_THROW(addresses.require_free(other)) << "the engine itself listens there";
    addresses.leave(config.sessions[0].session, address, true);
    EXPECT_THROW(addresses.require_free(other), ConfigError);
  }
  EXPECT_THROW(addresses.check(other), ConfigError);
}

}  // namespace
}  // namespace nfx
