// A program with [control] and its configuration file, in a folder of its own; a client on its UNIX socket.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "nexusfix/control/client.hpp"
#include "nexusfix/control/control.hpp"
#include "nexusfix/engine/program.hpp"
#include "temporary_folder.hpp"

namespace nfx::test {

class ControlledProgram : public ::testing::Test {
 protected:
  static constexpr const char* control_section = "[control]\nsocket = \"control.sock\"\naudit = \"audit.log\"\n";

  void SetUp() override {
    if (!control_supported()) GTEST_SKIP() << "built without Boost.Beast";
    begin();
  }
  virtual void begin() = 0;
  void TearDown() override {
    if (engine) engine->stop();
    if (thread.joinable()) thread.join();
    control.reset();
    engine.reset();
  }

  [[nodiscard]] std::string file() const { return folder.file("engine.toml"); }
  void write(const std::string& text) const { std::ofstream{file(), std::ios::trunc} << text; }
  // `from` is the configuration's file; empty: created by a program.
  void serve(EngineConfig config, Callbacks program, const std::string& from = {}) {
    engine.emplace(std::move(config), program);
    engine->start();
    control = make_control(*engine, from);
    thread = std::jthread{[this] { engine->run(); }};
  }
  void serve_file(Callbacks program) { serve(load_program_config(file(), "test"), program, file()); }

  [[nodiscard]] ControlReply ask(std::string_view method, std::string target, std::string body = {},
                                 std::string if_match = {}) const {
    const auto reply = ask_control(
        {.socket = folder.file("control.sock"), .timeout = std::chrono::seconds{120}},  // for busy machines
        {.method = method, .target = std::move(target), .body = std::move(body), .if_match = std::move(if_match)});
    EXPECT_TRUE(reply) << (reply ? "" : reply.error());
    return reply ? *reply : ControlReply{};
  }
  [[nodiscard]] nlohmann::json answer(std::string_view method, const std::string& target,
                                      const std::string& body = {}) const {
    const ControlReply reply = ask(method, target, body);
    EXPECT_EQ(reply.status, 200U) << reply.body;
    return nlohmann::json::parse(reply.body);
  }
  // Adds one [[session]] as an operator.
  [[nodiscard]] ControlReply add(const std::string& config) const {
    return ask("POST", "/v1/sessions", nlohmann::json{{"config", config}}.dump());
  }

  // A peer of VENUE that connects to the first session's address.
  [[nodiscard]] EngineConfig peer_config(std::string_view name) const {
    EngineConfig config;
    SessionSettings& settings = config.sessions.emplace_back();
    settings.session.begin_string = "FIX.4.4";
    settings.session.sender_comp_id = name;
    settings.session.target_comp_id = "VENUE";
    settings.session.role = Role::initiator;
    settings.store_kind = StoreKind::memory;
    settings.reconnect_delay = std::chrono::milliseconds{10};
    settings.reconnect_delay_max = std::chrono::milliseconds{10};
    settings.connect = {{"127.0.0.1", engine->local_endpoint(0)->port}};
    return config;
  }

  const TemporaryFolder folder;
  std::optional<Engine> engine;
  std::unique_ptr<Control> control;
  std::jthread thread;
};

}  // namespace nfx::test
