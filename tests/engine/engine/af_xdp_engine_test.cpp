// A FIX session between an engine past the kernel and one on the kernel's TCP, in two network namespaces.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <tuple>

#include "nexusfix/engine/engine.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "transport/network_namespaces.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;

EngineConfig config_with(const std::string& address) {
  EngineConfig config;
  config.transport = TransportKind::af_xdp;
  config.af_xdp = address;
  SessionSettings settings;
  settings.session.sender_comp_id = "A";
  settings.session.target_comp_id = "B";
  settings.session.role = Role::initiator;
  settings.connect = {{"10.99.1.1", 9880}};
  config.sessions = {settings};
  return config;
}

class Silent final : public Application {
 public:
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }
};

std::string refusal_of(const EngineConfig& config) {
  Silent application;
  try {
    const Engine engine{config, application};
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "an engine was made";
}

#ifdef NFX_WITH_AF_XDP

class PingPong final : public Application {
 public:
  explicit PingPong(bool serves) : serves_(serves) {}
  void on_logon(SessionHandle& session) override {
    ++logons;
    if (serves_) send(session, 1);
  }
  void on_logout(SessionHandle&, std::string_view) override { ++logouts; }
  Handled on_message(SessionHandle& session, const MessageView& message) override {
    const auto number = message.get_int(Tag::ClOrdID);
    in_order = in_order && number == last + 1;
    last = number.value_or(-1);
    if (!serves_ || last < rounds) send(session, serves_ ? last + 1 : last);
    return Handled::done;
  }

  static constexpr std::int64_t rounds = 2000;
  std::int64_t last = 0;
  bool in_order = true;
  int logons = 0;
  int logouts = 0;

 private:
  void send(SessionHandle& session, std::int64_t number) {
    std::array<char, 64> buffer;
    FieldWriter body{buffer};
    body.append(Tag::ClOrdID, number);
    std::ignore = session.send({.msg_type = "D", .body = body.view()});
  }
  bool serves_;
};

// The engine past the kernel accepts or connects; the other one does the other.
void run_session(bool af_xdp_accepts) {
  const testing::TwoNamespaces two{{"ip link add xdp0 type veth peer name kernel0 netns OTHER"}};
  if (!two.problem().empty()) GTEST_SKIP() << two.problem();
  ASSERT_TRUE(testing::take_up("xdp0"));
  two.in_other([] {
    ASSERT_TRUE(testing::run_command("ip addr add 10.99.1.1/24 dev kernel0"));
    ASSERT_TRUE(testing::take_up("kernel0"));
  });
  const auto side = [&](bool accepts, bool af_xdp) {
    EngineConfig config;
    if (af_xdp) {
      config.transport = TransportKind::af_xdp;
      config.af_xdp = "xdp0 10.99.1.2/24";
    }
    SessionSettings settings;
    settings.session.role = accepts ? Role::acceptor : Role::initiator;
    settings.session.sender_comp_id = accepts ? "VENUE" : "TRADER";
    settings.session.target_comp_id = accepts ? "TRADER" : "VENUE";
    settings.reconnect_delay = 10ms;
    const Endpoint venue{af_xdp == accepts ? "10.99.1.2" : "10.99.1.1", 9880};
    (accepts ? settings.listen : settings.connect.emplace_back()) = venue;
    config.sessions = {settings};
    return config;
  };
  PingPong past{true}, usual{false};
  Engine past_kernel{side(af_xdp_accepts, true), past};
  EXPECT_EQ(past_kernel.transport_text(), "af_xdp: xdp0 10.99.1.2/24");
  std::unique_ptr<Engine> on_kernel;
  const auto start_usual = [&] {
    two.in_other([&] {
      on_kernel = std::make_unique<Engine>(side(!af_xdp_accepts, false), usual);
      on_kernel->start();
    });
  };
  if (!af_xdp_accepts) start_usual();
  past_kernel.start();
  if (af_xdp_accepts) start_usual();
  const auto turn_until = [&](auto condition) {
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    while (!condition() && std::chrono::steady_clock::now() < deadline) {
      past_kernel.turn(0ms);
      two.in_other([&] { on_kernel->turn(0ms); });
    }
    return condition();
  };
  EXPECT_TRUE(turn_until([&] { return past.last == PingPong::rounds; })) << past.last;
  EXPECT_TRUE(past.in_order && usual.in_order);
  past_kernel.stop();
  EXPECT_TRUE(turn_until([&] { return past_kernel.finished() && usual.logouts == 1; }));
  EXPECT_EQ(past.logons, 1);
  EXPECT_EQ(usual.logons, 1);
  EXPECT_EQ(past.logouts, 1);
}

TEST(AfXdpEngine, connects_to_an_engine_on_the_kernels_tcp) { run_session(false); }
TEST(AfXdpEngine, accepts_an_engine_on_the_kernels_tcp) { run_session(true); }

TEST(AfXdpEngine, is_refused_with_two_poll_threads_and_without_an_address) {
  EngineConfig config = config_with("xdp0 10.99.1.2/24");
  config.poll_threads = 2;
  EXPECT_EQ(refusal_of(config), "af_xdp: lwIP has one stack per process: set poll_threads = 1");
  EXPECT_TRUE(refusal_of(config_with("")).starts_with("af_xdp: expected \"INTERFACE[:QUEUE] ADDRESS/PREFIX"));
}

TEST(AfXdpEngine, is_refused_on_an_interface_that_does_not_exist) {
  EXPECT_EQ(refusal_of(config_with("no_such_if 10.99.1.2/24")), "af_xdp: interface no_such_if: No such device");
}

#else

TEST(AfXdpEngine, is_refused_with_the_packages_that_the_build_lacks) {
  EXPECT_TRUE(refusal_of(config_with("xdp0 10.99.1.2/24")).contains("liblwip-dev"));
}

#endif

}  // namespace
}  // namespace nfx
