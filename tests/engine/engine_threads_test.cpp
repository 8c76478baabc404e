// What is still under way on an engine's other threads when it ends.
#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <thread>

#include "engine/session_stores.hpp"
#include "nexusfix/engine/engine.hpp"
#include "observe/log_folder.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;

class Silent : public Application {
 public:
  void on_message(SessionHandle&, const MessageView&) override {}
};

// Says when a Logon has come, just before the journal of its session is asked for.
class Doorman final : public Silent {
 public:
  bool on_logon_request(const LogonRequest&) override {
    came.count_down();
    return true;
  }
  std::latch came{1};
};

SessionSettings acceptor_for(std::string peer) {
  SessionSettings settings;
  settings.session.role = Role::acceptor;
  settings.session.sender_comp_id = "VENUE";
  settings.session.target_comp_id = std::move(peer);
  settings.listen = {"127.0.0.1", 0};
  return settings;
}

TEST(EngineThreads, engine_that_ends_waits_for_the_journal_that_a_logon_has_asked_for) {
  const LogFolder folder;
  SessionSettings any = acceptor_for("CLIENT-*");
  any.is_template = true;
  any.store_kind = StoreKind::journal;
  any.journal.directory = folder.path() / "journals";
  any.journal.ring_directory = folder.path() / "rings";
  any.journal.segment_size = 8 * 1024 * 1024;  // so that it takes longer to be made than the engine to stop
  any.journal.ring_size = 64 * 1024;
  any.journal.retain_messages = 1024;
  Doorman doorman;
  EngineConfig config;
  config.max_message_size = 8192;
  config.sessions = {any};
  auto venue = std::make_unique<Engine>(config, doorman);
  venue->start();
  SessionSettings client;
  client.session.role = Role::initiator;
  client.session.sender_comp_id = "CLIENT-1";
  client.session.target_comp_id = "VENUE";
  client.connect = {*venue->local_endpoint(0)};
  Silent silent;
  EngineConfig client_config;
  client_config.sessions = {client};
  Engine trader{client_config, silent};
  std::jthread venue_thread{[&] { venue->run(); }};
  std::jthread trader_thread{[&] { trader.run(); }};
  doorman.came.wait();
  venue->stop();
  venue_thread.join();
  venue.reset();
  trader.stop();
  trader_thread.join();
  // The journal was opened and closed again: the next one may have it, and finds it in order.
  JournalStores stores{posix_disk(), {}, {}};
  SessionSettings one = any;
  one.session.target_comp_id = "CLIENT-1";
  const SessionStore store = stores.open(one, UtcTime{});
  ASSERT_NE(store.journal(), nullptr);
  EXPECT_GT(store.journal()->recovery().records, 0U);
  EXPECT_TRUE(store.journal()->recovery().clean);
}

}  // namespace
}  // namespace nfx
