// The engine's threads where the plan puts them, over real TCP on this host's CPUs.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <tuple>

#include "config/placement.hpp"
#include "engine/engine_operations.hpp"
#include "engine/engine_placement.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/log/line_log.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;

EngineConfig one_acceptor() {
  EngineConfig config;
  SessionSettings settings;
  settings.session.sender_comp_id = "VENUE";
  settings.session.target_comp_id = "CLIENT";
  settings.listen = {"127.0.0.1", 0};
  config.sessions.push_back(settings);
  return config;
}

// Records from inside a callback where it runs, then stops the engine.
class WhereAmI final : public Application {
 public:
  Duration on_turn(Instant) override {
    if (!seen.exchange(true)) {
      cpus = CpuAffinity::get();
      std::array<char, 16> text{};
      ::pthread_getname_np(::pthread_self(), text.data(), text.size());
      name = text.data();
      engine->stop();
    }
    return Duration::max();
  }
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }

  Engine* engine = nullptr;
  std::atomic<bool> seen{false};
  CpuSet cpus;
  std::string name;
};

int some_allowed_cpu() { return CpuAffinity::get().last(); }

std::optional<ThreadReport> report_of(const Engine& engine, std::string_view name) {
  for (const ThreadReport& each : engine.thread_reports()) {
    if (each.name == name) return each;
  }
  return std::nullopt;
}

TEST(EnginePlacement, is_off_by_default) {
  WhereAmI application;
  Engine engine{one_acceptor(), application};
  application.engine = &engine;
  const CpuSet before = CpuAffinity::get();
  engine.run();
  EXPECT_EQ(engine.plan(), nullptr);
  EXPECT_EQ(application.cpus, before);
  EXPECT_TRUE(engine.thread_reports().empty());
}

TEST(EnginePlacement, serves_a_session_on_the_cpu_it_asks_for) {
  if (CpuAffinity::get().size() < 2) GTEST_SKIP() << "needs two CPUs: one stays for housekeeping";
  EngineConfig config = one_acceptor();
  config.idle = IdleMode::spin;
  config.sessions[0].session.cpu_affinity_core = some_allowed_cpu();
  WhereAmI application;
  Engine engine{config, application};
  application.engine = &engine;
  const CpuSet before = CpuAffinity::get();
  engine.run();
  EXPECT_EQ(application.cpus, CpuSet{some_allowed_cpu()});
  EXPECT_EQ(application.name, "nfx-poll-0");
  EXPECT_EQ(CpuAffinity::get(), before) << "the thread that called run() has its own mask again";
  const auto report = report_of(engine, "nfx-poll-0");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->cpus, CpuSet{some_allowed_cpu()});
  EXPECT_TRUE(report->involuntary_switches.has_value());
  EXPECT_GT(report->worst_idle_gap, Duration::zero());
}

TEST(EnginePlacement, keeps_threads_that_no_message_waits_for_on_the_housekeeping_cpus) {
  if (CpuAffinity::get().size() < 2) GTEST_SKIP() << "needs two CPUs: one stays for housekeeping";
  EngineConfig config = one_acceptor();
  config.idle = IdleMode::spin;
  config.placement.enabled = true;
  WhereAmI application;
  LineLog lines{Stream::err};
  Engine engine{config, application};
  application.engine = &engine;
  const CpuSet housekeeping = engine.plan()->housekeeping;
  CpuSet of_program;
  std::thread{[&] { engine.run_on_housekeeping("nfx-program", [&] { of_program = CpuAffinity::get(); }); }}.join();
  EngineOperations{engine}.adopt_housekeeping(lines.thread_id(), LineLog::thread_name);
  engine.run();
  EXPECT_EQ(of_program, housekeeping);
  EXPECT_FALSE(housekeeping.intersects(application.cpus));
  for (const char* name : {"nfx-program", "nfx-lines", "nfx-latency", "nfx-monitor"}) {
    const auto report = report_of(engine, name);
    ASSERT_TRUE(report) << name;
    EXPECT_EQ(report->planned, housekeeping) << name;
    EXPECT_EQ(report->cpus, housekeeping) << name;
  }
}

TEST(EnginePlacement, names_threads_without_a_plan_and_leaves_them_where_they_are) {
  WhereAmI application;
  Engine engine{one_acceptor(), application};
  const CpuSet before = CpuAffinity::get();
  std::thread{[&] {
    engine.run_on_housekeeping("nfx-program", [&] {
      std::array<char, 16> name{};
      ::pthread_getname_np(::pthread_self(), name.data(), name.size());
      EXPECT_STREQ(name.data(), "nfx-program");
      EXPECT_EQ(CpuAffinity::get(), before);
    });
  }}.join();
  EXPECT_TRUE(engine.thread_reports().empty());
}

TEST(EnginePlacement, auto_pinned_sessions_are_served_where_the_mapping_says) {
  if (CpuAffinity::get().size() < 2) GTEST_SKIP() << "needs two CPUs: one stays for housekeeping";
  EngineConfig config = one_acceptor();
  config.idle = IdleMode::spin;
  config.sessions[0].session.auto_pin_to_core = true;
  WhereAmI application;
  Engine engine{config, application};
  application.engine = &engine;
  engine.run();
  ASSERT_NE(engine.plan(), nullptr);
  EXPECT_EQ(application.cpus.size(), 1U);
  EXPECT_EQ(application.cpus, engine.plan()->threads[0].cpus);
}

TEST(EnginePlacement, a_cpu_that_is_not_there_is_refused_before_anything_starts) {
  EngineConfig config = one_acceptor();
  config.sessions[0].session.cpu_affinity_core = CpuSet::max_cpus - 1;
  WhereAmI application;
  try {
    const Engine engine{config, application};
    FAIL() << "started";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string_view{error.what()}.find("[placement]"), std::string_view::npos) << error.what();
    EXPECT_NE(std::string_view{error.what()}.find(std::to_string(CpuSet::max_cpus - 1)), std::string_view::npos)
        << error.what();
  }
}

TEST(EnginePlacement, warns_or_refuses_as_configured) {
  if (CpuAffinity::get().size() < 2) GTEST_SKIP() << "needs two CPUs: one stays for housekeeping";
  EngineConfig config = one_acceptor();
  config.idle = IdleMode::spin;
  config.placement.enabled = true;
  WhereAmI application;
  const Engine engine{config, application};
  if (engine.placement_warnings().empty()) GTEST_SKIP() << "every CPU of this host is as the plan wants it";
  config.placement.on_violation = OnViolation::refuse;
  EXPECT_THROW((Engine{config, application}), ConfigError);
}

TEST(EnginePlacement, warns_of_auto_pinning_with_poll_threads_that_block_or_refuses_it) {
  EngineConfig config = one_acceptor();
  config.idle = IdleMode::block;
  config.sessions[0].session.auto_pin_to_core = true;
  WhereAmI application;
  {
    const Engine engine{config, application};
    const auto& warnings = engine.placement_warnings();
    EXPECT_TRUE(std::ranges::any_of(warnings, [](const std::string& warning) {
      return warning.find("auto_pin_to_core = true: no thread is pinned") != std::string::npos;
    }));
  }
  config.placement.on_violation = OnViolation::refuse;
  EXPECT_THROW((Engine{config, application}), ConfigError);
}

TEST(EnginePlacement, what_is_built_for_a_poll_thread_is_built_on_its_cpu) {
  if (CpuAffinity::get().size() < 2) GTEST_SKIP() << "needs two CPUs: one stays for housekeeping";
  EngineConfig config = one_acceptor();
  config.idle = IdleMode::spin;
  config.sessions[0].session.cpu_affinity_core = some_allowed_cpu();
  EnginePlacement placement{config, load_this_machine, [] { return read_host_facts(HostFiles{}); }};
  int cpu = -1;
  placement.build(0, [&cpu] { cpu = ::sched_getcpu(); });
  EXPECT_EQ(cpu, some_allowed_cpu());
  EXPECT_THROW(placement.build(0, [] { throw ConfigError("from inside"); }), ConfigError);
}

SessionSettings another(std::string peer) {
  SessionSettings settings = one_acceptor().sessions[0];
  settings.session.target_comp_id = std::move(peer);
  settings.session.auto_pin_to_core = true;
  return settings;
}

// A machine of eight CPUs: nothing runs on it.
Topology eight_cpus() {
  Topology topology;
  topology.online = topology.allowed = CpuSet::range(0, 7);
  for (int cpu = 0; cpu < 8; ++cpu) {
    Core core;
    core.cpus = {cpu};
    core.package = core.numa_node = 0;
    topology.cores.push_back(core);
  }
  topology.nodes.push_back({.number = 0, .cpus = topology.online, .memory_bytes = 0});
  return topology;
}

TEST(PollIdle, is_spin_only_where_the_plan_gives_the_thread_a_cpu_of_its_own) {
  EngineConfig config = one_acceptor();
  EXPECT_EQ(config.idle, IdleMode::automatic) << "the default";
  EXPECT_EQ(poll_idle(config, nullptr, 0).mode, IdleMode::block);
  EXPECT_NE(poll_idle_text(config, nullptr).find("idle: block: without [placement]"), std::string::npos);
  config.placement.enabled = true;
  config.poll_threads = 3;
  const PlacementPlan plan = plan_engine(config, eight_cpus(), HostFacts{});
  ASSERT_FALSE(plan.refused());
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(poll_idle(config, &plan, i).mode, IdleMode::spin);
    EXPECT_NE(poll_idle(config, &plan, i).why.find("it has CPU "), std::string::npos);
  }
  EXPECT_EQ(poll_idle_text(config, &plan), "idle: spin: each poll thread has a CPU for itself");
  config.idle = IdleMode::yield;
  EXPECT_EQ(poll_idle(config, &plan, 0).mode, IdleMode::yield);
  EXPECT_EQ(poll_idle_text(config, &plan), "idle: yield: as configured");
}

TEST(PollIdle, is_block_where_there_are_fewer_cpus_than_busy_threads) {
  EngineConfig config = one_acceptor();
  config.placement.enabled = true;
  config.poll_threads = 9;
  PlacementPlan plan = plan_engine(config, eight_cpus(), HostFacts{});
  EXPECT_FALSE(plan.refused()) << "an engine that may block starts";
  EXPECT_EQ(poll_idle(config, &plan, 8).mode, IdleMode::block);
  EXPECT_EQ(poll_idle_text(config, &plan), "idle: block: there are fewer CPUs than busy-polling threads");
  config.idle = IdleMode::spin;
  EXPECT_TRUE(plan_engine(config, eight_cpus(), HostFacts{}).refused()) << "what is configured is not changed";
}

TEST(PollIdle, is_block_where_another_busy_thread_has_the_same_cpu) {
  EngineConfig config = one_acceptor();
  config.placement.enabled = true;
  config.poll_threads = 2;
  PlacementPlan plan = plan_engine(config, eight_cpus(), HostFacts{});
  for (ThreadPlacement& each : plan.threads) {
    if (each.role == ThreadRole::poll) each.cpus = CpuSet{3};
  }
  EXPECT_EQ(poll_idle(config, &plan, 0).mode, IdleMode::block);
  EXPECT_EQ(poll_idle(config, &plan, 1).mode, IdleMode::block);
}

TEST(EnginePlacement, sessions_that_join_later_are_balanced_too_and_leave_their_place_behind) {
  EngineConfig config = one_acceptor();
  config.poll_threads = 4;
  config.idle = IdleMode::spin;
  config.placement.enabled = true;
  config.placement.mapping = SessionMapping::balanced;
  config.sessions[0].session.auto_pin_to_core = true;
  EnginePlacement placement{config, eight_cpus, [] { return HostFacts{}; }};
  std::set<std::uint32_t> threads{config.sessions[0].poll_thread};
  for (const char* peer : {"B", "C", "D"}) {
    const SessionSettings settings = another(peer);
    threads.insert(placement.join_mapping(settings));
    placement.joined_as(threads.size(), settings.session);
  }
  EXPECT_EQ(threads.size(), 4U) << "no two sessions share a core while another is free";
  const std::uint32_t place_of_b = placement.join_mapping(another("B"));
  placement.leave_mapping(2);
  EXPECT_EQ(placement.join_mapping(another("E")), place_of_b);
  placement.withdraw(another("E").session);
  EXPECT_EQ(placement.join_mapping(another("F")), place_of_b);
}

TEST(EnginePlacement, a_session_that_joins_later_and_names_a_core_of_nobody_is_refused) {
  EngineConfig config = one_acceptor();
  config.idle = IdleMode::spin;
  config.placement.enabled = true;
  EnginePlacement placement{config, eight_cpus, [] { return HostFacts{}; }};
  SessionSettings settings = another("B");
  settings.session.cpu_affinity_core = 0;
  EXPECT_THROW(static_cast<void>(placement.join_mapping(settings)), ConfigError);
  settings.session.cpu_affinity_core = placement.plan()->threads[0].cpus.first();
  EXPECT_EQ(placement.join_mapping(settings), 0U);
}

TEST(EnginePlacement, puts_a_programs_thread_where_the_plan_has_its_role) {
  if (CpuAffinity::get().size() < 2) GTEST_SKIP() << "needs two CPUs: one stays for housekeeping";
  EngineConfig config = one_acceptor();
  config.placement.enabled = true;
  config.placement.role(ThreadRole::feed).threads = 1;
  config.placement.role(ThreadRole::feed).wait = ThreadWait::spin;
  config.placement.role(ThreadRole::ui).threads = 1;
  WhereAmI application;
  Engine engine{config, application};
  const CpuSet before = CpuAffinity::get();
  std::thread{[&] {
    EXPECT_TRUE(engine.enter_role(ThreadRole::feed));
    const CpuSet feed = CpuAffinity::get();
    EXPECT_EQ(feed.size(), 1U);
    ASSERT_EQ(engine.thread_reports().size(), 1U);
    EXPECT_EQ(engine.thread_reports()[0].name, "nfx-feed-0");
    EXPECT_EQ(engine.thread_reports()[0].planned, feed);
    engine.leave_role();
    EXPECT_EQ(CpuAffinity::get(), before);
    EXPECT_TRUE(engine.enter_role(ThreadRole::ui));
    EXPECT_FALSE(CpuAffinity::get().intersects(feed)) << "what no message waits for stays away";
    engine.leave_role();
    EXPECT_FALSE(engine.enter_role(ThreadRole::model)) << "the plan has none";
    EXPECT_EQ(CpuAffinity::get(), before);
    EXPECT_THROW(static_cast<void>(engine.enter_role(ThreadRole::flusher)), ConfigError);
  }}.join();
}

TEST(EnginePlacement, tells_when_a_mask_is_changed_from_outside) {
  if (CpuAffinity::get().size() < 2) GTEST_SKIP() << "needs two CPUs: one stays for housekeeping";
  EngineConfig config = one_acceptor();
  config.idle = IdleMode::spin;
  config.placement.check_interval = 1ms;
  config.sessions[0].session.cpu_affinity_core = some_allowed_cpu();
  EnginePlacement placement{config, load_this_machine, [] { return read_host_facts(HostFiles{}); }};
  const CpuSet all = CpuAffinity::get();
  placement.enter(0);
  std::promise<std::string> alert;
  std::atomic<bool> told{false};
  placement.watch([&](const std::string& text) {
    if (text.find("changed its mask") != std::string::npos && !told.exchange(true)) alert.set_value(text);
  });
  ASSERT_TRUE(CpuAffinity::set(all));
  const std::string text = alert.get_future().get();
  placement.stop_watching();
  placement.leave();
  EXPECT_NE(text.find("nfx-poll-0"), std::string::npos) << text;
}

TEST(EnginePlacement, the_request_has_the_threads_and_sessions_of_the_whole_configuration) {
  EngineConfig config = one_acceptor();
  config.poll_threads = 3;
  config.idle = IdleMode::yield;
  config.sessions[0].poll_thread = 2;
  PlacementRequest request = placement_request(config);
  EXPECT_FALSE(request.enabled);
  EXPECT_EQ(request.role(ThreadRole::poll).threads, 3U);
  EXPECT_EQ(request.role(ThreadRole::poll).wait, ThreadWait::spin) << "a yielding thread never sleeps";
  ASSERT_EQ(request.sessions.size(), 1U);
  EXPECT_EQ(request.sessions[0].poll_thread, 2U);
  EXPECT_EQ(request.sessions[0].sender_comp_id, "VENUE");
  config.sessions[0].session.auto_pin_to_core = true;
  EXPECT_TRUE(placement_request(config).enabled);
}

}  // namespace
}  // namespace nfx
