// The callbacks of an engine: the interfaces of a program's class, and observers beside it.
#include "nexusfix/engine/application.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/loop_rig.hpp"
#include "nexusfix/engine/authenticator.hpp"
#include "nexusfix/engine/observer.hpp"

namespace nfx::test {
namespace {

struct Plain : Application {
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }
};
struct Watching : Plain, Observer {};
struct Deciding : Authenticator, Plain {};
struct Everything : Plain, Authenticator, Observer {};

TEST(Callbacks, are_those_of_the_interfaces_that_a_class_has) {
  Plain plain;
  EXPECT_EQ(Callbacks{plain}.application, &plain);
  EXPECT_TRUE(Callbacks{plain}.observers.empty());
  EXPECT_EQ(Callbacks{plain}.authenticator, nullptr);
  Watching watching;
  EXPECT_EQ(Callbacks{watching}.application, &watching);
  EXPECT_EQ(Callbacks{watching}.observers, (std::vector<Observer*>{&watching}));
  Deciding deciding;
  EXPECT_EQ(Callbacks{deciding}.application, &deciding);
  EXPECT_EQ(Callbacks{deciding}.authenticator, &deciding);
  EXPECT_TRUE(Callbacks{deciding}.observers.empty());
  Everything everything;
  EXPECT_EQ(Callbacks{everything}.observers, (std::vector<Observer*>{&everything}));
  EXPECT_EQ(Callbacks{everything}.authenticator, &everything);
}

struct Trail final : Observer {
  Trail(std::string name, std::vector<std::string>& trail) : name_(std::move(name)), trail_(trail) {}
  void on_session_up(SessionHandle&) override { trail_.push_back(name_ + " up"); }
  void on_session_down(SessionHandle&, std::string_view) override { trail_.push_back(name_ + " down"); }

 private:
  std::string name_;
  std::vector<std::string>& trail_;
};

struct TrailProgram final : Plain {
  void on_logon(SessionHandle&) override { trail.emplace_back("program up"); }
  void on_logout(SessionHandle&, std::string_view) override { trail.emplace_back("program down"); }
  std::vector<std::string> trail;
};

TEST(Callbacks, observers_are_called_in_their_order_and_before_the_program) {
  LoopbackNetwork network;
  ManualClock clock{engine_test_start()};
  LoopbackTransport transport{network};
  TrailProgram program;
  Trail first{"first", program.trail}, second{"second", program.trail};
  Callbacks callbacks{program};
  callbacks.observers = {&first, &second};
  EngineConfig config;
  config.sessions = {acceptor()};
  LoopbackLoop loop{config, 0, transport, clock, callbacks};
  loop.start();
  RawPeer peer{network, clock};
  const auto turn = [&] {
    for (int i = 0; i < 4; ++i) {
      loop.turn(0ns);
      peer.read();
    }
  };
  peer.connect();
  turn();
  peer.send(peer.logon());
  turn();
  peer.send(peer.next("5"));
  turn();
  EXPECT_EQ(program.trail, (std::vector<std::string>{"first up", "second up", "program up", "first down", "second down",
                                                     "program down"}));
}

}  // namespace
}  // namespace nfx::test
