// The cause of a stall, from hand-written traces.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "host/trace_reader.hpp"
#include "temporary_folder.hpp"

namespace nfx {
namespace {

constexpr std::uint64_t us = 1'000;
constexpr int own = 500;  // the measuring thread

// Times in the fixtures are CLOCK_MONOTONIC_RAW; 100 s is time 0.
TickClock raw_clock() { return {.origin_raw_ns = 100'000'000'000, .why_not_tsc = {}}; }

std::vector<TraceEvent> events_of(std::string_view text) {
  TraceParser parser{raw_clock()};
  parser.text(text);
  EXPECT_EQ(parser.not_understood, 0U);
  return parser.events;
}

AttributionContext context() { return {.own_threads = {own}, .slack_ns = 1'000}; }

// One stall on CPU 1.
NoiseCause cause(std::string_view trace, std::uint64_t begin_us, std::uint64_t length_us,
                 const AttributionContext& with = context()) {
  const HiccupGap gap{begin_us * us, length_us * us, 1, 1};
  return attribute({&gap, 1}, events_of(trace), with).at(0);
}

constexpr std::string_view head =
    "# tracer: nop\n"
    "#\n"
    "# entries-in-buffer/entries-written: 459/459   #P:2\n"
    "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
    "#              | |         |   |||||     |         |\n";

TEST(TraceParserTest, lines_are_read_as_the_kernel_prints_them) {
  const auto events = events_of(
      std::string{head} +
      "          <idle>-0       [001] ..s1. 100.074951: softirq_entry: vec=1 [action=TIMER]\n"
      "     nfx-noise-1-500     [001] d.h1. 100.075077: call_function_single_entry: vector=251\n"
      "     nfx-noise-1-500     [001] d.h1. 100.075078: local_timer_exit: vector=236\n"
      "     nfx-noise-1-500     [000] d.h1. 100.075079: irq_handler_entry: irq=36 name=virtio1-req.0\n"
      "     nfx-noise-1-500     [000] d.h1. 100.075080: irq_handler_exit: irq=36 ret=handled\n"
      "     nfx-noise-1-500     [001] d..2. 100.075081: sched_switch: prev_comm=nfx-noise-1 prev_pid=500 prev_prio=120 "
      "prev_state=R+ ==> next_comm=Web Content next_pid=77 next_prio=120\n");
  ASSERT_EQ(events.size(), 6U);
  EXPECT_EQ(events[0].time_ns, 74'951'000);
  EXPECT_EQ(events[0].cpu, 1);
  EXPECT_EQ(events[0].kind, NoiseKind::softirq);
  EXPECT_EQ(events[0].name, "TIMER");
  EXPECT_EQ(events[1].kind, NoiseKind::ipi);
  EXPECT_EQ(events[1].name, "call_function_single");
  EXPECT_EQ(events[2].kind, NoiseKind::timer);
  EXPECT_EQ(events[2].edge, TraceEvent::Edge::exit);
  EXPECT_EQ(events[3].cpu, 0);
  EXPECT_EQ(events[3].name, "36 virtio1-req.0");
  EXPECT_EQ(events[4].edge, TraceEvent::Edge::exit);
  EXPECT_EQ(events[5].name, "Web Content");
  EXPECT_EQ(events[5].thread_id, 77);
  EXPECT_EQ(events[5].thread_id_before, own);
}

TEST(TraceParserTest, names_of_tasks_cannot_pass_for_other_columns) {
  const auto events = events_of(
      "     a [7] b: c--1-33      [001] ..s1. 100.000001: softirq_entry: vec=1 [action=TIMER]\n"
      "             a b-7       [001] d..2. 100.000002: sched_switch: prev_comm=a ==> x prev_pid=7 prev_prio=120 "
      "prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120\n");
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].cpu, 1);
  EXPECT_EQ(events[0].time_ns, 1'000);
  EXPECT_EQ(events[1].name_before, "a ==> x");
  EXPECT_EQ(events[1].name, "idle");
}

TEST(TraceParserTest, times_of_the_tsc_are_counted_from_the_origin) {
  TraceParser parser{{.tsc = true, .ticks_per_ns = 2.5, .origin_ticks = 1'000'000, .why_not_tsc = {}}};
  parser.line("          <idle>-0       [001] ..s1. 1002500: softirq_entry: vec=1 [action=TIMER]");
  parser.line("          <idle>-0       [001] ..s1. 997500: softirq_exit: vec=1 [action=TIMER]");
  ASSERT_EQ(parser.events.size(), 2U);
  EXPECT_EQ(parser.events[0].time_ns, 1'000);
  EXPECT_EQ(parser.events[1].time_ns, -1'000);
}

TEST(TraceParserTest, an_interrupt_has_its_number_and_its_handler_whatever_is_between) {
  const auto events =
      events_of("     nfx-noise-1-500     [000] d.h1. 100.075079: irq_handler_entry: irq=36\xde%name=virtio1\n");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].name, "36 virtio1");
}

TEST(TraceParserTest, lines_without_flags_are_read) {
  EXPECT_EQ(events_of("          <idle>-0       [001]   100.000001: softirq_entry: vec=1 [action=TIMER]").size(), 1U);
}

TEST(TraceParserTest, interrupts_between_arm_processors_are_read) {
  const auto events =
      events_of("          <idle>-0       [002] d.h1. 100.000001: ipi_entry: (Rescheduling interrupts)");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, NoiseKind::ipi);
  EXPECT_EQ(events[0].name, "Rescheduling interrupts");
}

TEST(TraceParserTest, lost_events_and_broken_lines_are_counted_and_other_events_skipped) {
  TraceParser parser{raw_clock()};
  parser.text(
      "CPU:1 [LOST 123 EVENTS]\n"
      "##### CPU 1 buffer started ####\n"
      "\n"
      "          <idle>-0       [001] d..1. 100.000001: cpu_idle: state=1 cpu_id=1\n"
      "          <idle>-0       [001] d..1. 100.000002: vector_setup: vector=3 is_legacy=0 ret=0\n"
      "          <idle>-0       [001] ..s1. when: softirq_entry: vec=1 [action=TIMER]\n"
      "          <idle>-0       [001] ..s1. 100.1: sched_switch: prev_comm=\n"
      "          <idle>-0       [999999] ..s1. 100.000001: softirq_entry: vec=1 [action=TIMER]\n"
      "          <idle>-0       [001\n"
      "no trace at all\n"
      "          <idle>-0       [001] ..s1. 100.000003: softirq_entry: vec=1 [act");
  EXPECT_EQ(parser.lost, 123U);
  EXPECT_EQ(parser.not_understood, 6U);
  EXPECT_TRUE(parser.events.empty());
}

constexpr std::string_view tick =
    "     nfx-noise-1-500     [001] d.h1. 100.001002: local_timer_entry: vector=236\n"
    "     nfx-noise-1-500     [001] d.h1. 100.001005: local_timer_exit: vector=236\n";

TEST(AttributionTest, the_tick_is_the_cause_of_the_gap_around_it) {
  const NoiseCause tick_cause = cause(tick, 1'000, 7);
  EXPECT_EQ(tick_cause.kind, NoiseKind::timer);
  EXPECT_EQ(tick_cause.share_ns, 3 * us);
  EXPECT_EQ(tick_cause.unaccounted_ns, 4 * us);
}

TEST(AttributionTest, a_gap_without_events_is_unexplained) {
  EXPECT_EQ(cause(tick, 2'000, 7).kind, NoiseKind::unexplained);
  EXPECT_EQ(cause("", 2'000, 7).kind, NoiseKind::unexplained);
}

TEST(AttributionTest, events_of_other_cpus_are_no_cause) {
  const HiccupGap gap{1'000 * us, 7 * us, 0, 0};
  EXPECT_EQ(attribute({&gap, 1}, events_of(tick), context()).at(0).kind, NoiseKind::unexplained);
}

TEST(AttributionTest, a_gap_far_longer_than_its_events_is_not_theirs) {
  // After the hypervisor returned the CPU, the overdue tick comes first.
  const NoiseCause stall = cause(tick, 0, 1'006);
  EXPECT_EQ(stall.kind, NoiseKind::unexplained);
  EXPECT_EQ(stall.unaccounted_ns, 1'003 * us);
}

TEST(AttributionTest, interrupts_and_softirqs_are_named) {
  constexpr std::string_view trace =
      "     nfx-noise-1-500     [001] d.h1. 100.001001: irq_handler_entry: irq=36 name=virtio1-req.0\n"
      "     nfx-noise-1-500     [001] d.h1. 100.001003: irq_handler_exit: irq=36 ret=handled\n"
      "     nfx-noise-1-500     [001] ..s1. 100.001004: softirq_entry: vec=4 [action=BLOCK]\n"
      "     nfx-noise-1-500     [001] ..s1. 100.001024: softirq_exit: vec=4 [action=BLOCK]\n";
  EXPECT_EQ(cause(trace, 1'000, 3).text(), "interrupt 36 virtio1-req.0");
  EXPECT_EQ(cause(trace, 1'000, 26).text(), "softirq BLOCK") << "it took most of the stall";
}

constexpr std::string_view preempted =
    "     nfx-noise-1-500     [001] d.h1. 100.001001: local_timer_entry: vector=236\n"
    "     nfx-noise-1-500     [001] d.h1. 100.001005: local_timer_exit: vector=236\n"
    "     nfx-noise-1-500     [001] d..2. 100.001007: sched_switch: prev_comm=nfx-noise-1 prev_pid=500 prev_prio=120 "
    "prev_state=R ==> next_comm=cc1plus next_pid=77 next_prio=120\n"
    "         cc1plus-77      [001] d.h1. 100.003001: local_timer_entry: vector=236\n"
    "         cc1plus-77      [001] d.h1. 100.003006: local_timer_exit: vector=236\n"
    "         cc1plus-77      [001] d..2. 100.005006: sched_switch: prev_comm=cc1plus prev_pid=77 prev_prio=120 "
    "prev_state=R ==> next_comm=nfx-noise-1 next_pid=500 next_prio=120\n";

TEST(AttributionTest, the_task_that_had_the_cpu_is_the_cause_and_not_the_tick_that_let_it_in) {
  const NoiseCause task = cause(preempted, 1'000, 4'010);
  EXPECT_EQ(task.text(), "task cc1plus");
  EXPECT_EQ(task.share_ns, 3'994 * us) << "without the tick in the midst of it";
}

TEST(AttributionTest, our_own_threads_are_no_cause) {
  EXPECT_EQ(cause(preempted, 6'000, 100).kind, NoiseKind::unexplained);
}

TEST(AttributionTest, a_task_that_was_there_before_the_trace_is_known_from_the_first_switch) {
  constexpr std::string_view trace =
      "         cc1plus-77      [001] d.h1. 100.001001: local_timer_entry: vector=236\n"
      "         cc1plus-77      [001] d.h1. 100.001002: local_timer_exit: vector=236\n"
      "         cc1plus-77      [001] d..2. 100.001500: sched_switch: prev_comm=cc1plus prev_pid=77 prev_prio=120 "
      "prev_state=R ==> next_comm=nfx-noise-1 next_pid=500 next_prio=120\n";
  EXPECT_EQ(cause(trace, 900, 602).text(), "task cc1plus");
}

TEST(AttributionTest, nested_interrupts_are_told_apart) {
  constexpr std::string_view trace =
      "     nfx-noise-1-500     [001] ..s1. 100.001000: softirq_entry: vec=3 [action=NET_RX]\n"
      "     nfx-noise-1-500     [001] d.h1. 100.001010: reschedule_entry: vector=253\n"
      "     nfx-noise-1-500     [001] d.h1. 100.001040: reschedule_exit: vector=253\n"
      "     nfx-noise-1-500     [001] ..s1. 100.001050: softirq_exit: vec=3 [action=NET_RX]\n";
  const NoiseCause longest = cause(trace, 999, 52);
  EXPECT_EQ(longest.text(), "ipi reschedule");
  EXPECT_EQ(longest.share_ns, 30 * us);
  EXPECT_EQ(longest.unaccounted_ns, 2 * us);
}

TEST(AttributionTest, exits_without_entries_and_entries_without_exits_do_no_harm) {
  constexpr std::string_view trace =
      "     nfx-noise-1-500     [001] d.h1. 100.000500: local_timer_exit: vector=236\n"
      "     nfx-noise-1-500     [001] ..s1. 100.001000: softirq_entry: vec=3 [action=NET_RX]\n"
      "     nfx-noise-1-500     [001] d.h1. 100.001010: irq_work_entry: vector=246\n"
      "     nfx-noise-1-500     [001] ..s1. 100.001050: softirq_exit: vec=3 [action=NET_RX]\n"
      "     nfx-noise-1-500     [001] d.h1. 100.002003: irq_handler_exit: irq=36 ret=handled\n"
      "     nfx-noise-1-500     [001] d.h1. 100.003000: local_timer_entry: vector=236\n";
  EXPECT_EQ(cause(trace, 999, 52).text(), "kernel irq_work");
  EXPECT_EQ(cause(trace, 1'990, 14).text(), "interrupt 36");
}

TEST(AttributionTest, gaps_before_the_oldest_event_kept_are_not_traced) {
  AttributionContext overwritten = context();
  overwritten.overwritten = {1};
  EXPECT_EQ(cause(tick, 100, 7, overwritten).kind, NoiseKind::not_traced);
  EXPECT_EQ(cause(tick, 1'000, 7, overwritten).kind, NoiseKind::timer);
  EXPECT_EQ(cause(tick, 100, 7).kind, NoiseKind::unexplained) << "nothing was lost here";
}

TEST(AttributionTest, a_moved_thread_waited_for_the_task_on_its_former_cpu) {
  const HiccupGap gap{1'006 * us, 3'000 * us, 0, 1};
  const NoiseCause moved = attribute({&gap, 1}, events_of(preempted), context()).at(0);
  EXPECT_EQ(moved.text(), "migration waiting for task cc1plus");
}

TEST(AttributionTest, a_throttled_thread_leaves_its_cpu_idle) {
  constexpr std::string_view trace =
      "     nfx-noise-1-500     [001] d..2. 100.001000: sched_switch: prev_comm=nfx-noise-1 prev_pid=500 prev_prio=49 "
      "prev_state=R ==> next_comm=swapper/1 next_pid=0 next_prio=120\n"
      "          <idle>-0       [001] d..2. 100.051000: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 "
      "prev_state=R ==> next_comm=nfx-noise-1 next_pid=500 next_prio=49\n";
  EXPECT_EQ(cause(trace, 999, 50'002).text(), "task idle");
}

// As Linux 6.12 prints them.
constexpr std::string_view whole =
    "     nfx-noise-1-500     [001] d.h1. 100.001010: irq_noise: local_timer:236 start 7.893201082 duration 6000 ns\n"
    "     nfx-noise-1-500     [001] d..3. 100.001012: thread_noise: nfx-noise-1:500 start 7.1 duration 628996000 ns\n"
    "    Web: start 1-77      [001] dNh1. 100.003000: irq_noise: virtio1-req.0:36 start 7.953201082 duration 40000 ns\n"
    "    Web: start 1-77      [001] d..3. 100.005000: thread_noise: Web: start 1:77 start 7.9 duration 3900000 ns\n"
    "     nfx-noise-1-500     [001] dZ... 100.006000: nmi_noise: start 7.953201082 duration 9000 ns\n"
    "     nfx-noise-1-500     [001] ..s1. 100.007000: softirq_noise:   NET_RX:3 start 7.953201082 duration 8000 ns\n"
    "     nfx-noise-1-500     [001] d.h1. 100.008000: irq_noise: irq_work:246 start 7.953201082 duration 7000 ns\n"
    "     nfx-noise-1-500     [001] d.h1. 100.009000: irq_noise: reschedule:253 start 7.953201082 duration 7000 ns\n"
    "     nfx-noise-1-500     [001] d.h1. 100.010000: irq_noise: virtio1-req.0:36 start 7.9532 duration 7000 ns\n";

TEST(AttributionTest, interruptions_that_osnoise_measured_are_named) {
  EXPECT_EQ(cause(whole, 1'003, 8).text(), "timer");
  const NoiseCause task = cause(whole, 1'003, 3'999);
  EXPECT_EQ(task.text(), "task Web: start 1");
  EXPECT_EQ(task.share_ns, 3'900 * us) << "without the interrupts in the midst of it";
  EXPECT_EQ(task.unaccounted_ns, 53 * us) << "the timer's and the device's time is theirs";
  EXPECT_EQ(cause(whole, 5'990, 11).text(), "nmi");
  EXPECT_EQ(cause(whole, 6'990, 11).text(), "softirq NET_RX");
  EXPECT_EQ(cause(whole, 7'990, 11).text(), "kernel irq_work");
  EXPECT_EQ(cause(whole, 8'990, 11).text(), "ipi reschedule");
  EXPECT_EQ(cause(whole, 9'990, 11).text(), "interrupt 36 virtio1-req.0");
}

TEST(AttributionTest, a_gap_without_events_is_the_hardwares_where_the_tracer_sees_nmis) {
  AttributionContext complete = context();
  complete.all_sources = true;
  EXPECT_EQ(cause(whole, 20'000, 7, complete).kind, NoiseKind::hardware);
}

TEST(TraceParserTest, broken_events_of_osnoise_are_counted) {
  TraceParser parser{raw_clock()};
  parser.text(
      "          <idle>-0       [001] d.h1. 100.1: irq_noise: local_timer:236\n"
      "          <idle>-0       [001] d.h1. 100.1: irq_noise: local_timer start 7.8 duration 6 ns\n"
      "          <idle>-0       [001] d.h1. 100.1: nmi_noise: start 7.8 duration -1 ns\n");
  EXPECT_EQ(parser.not_understood, 3U);
}

// A folder with the files of tracefs that OsnoiseTracer uses.
class OsnoiseTracerTest : public testing::Test {
 protected:
  OsnoiseTracerTest() {
    write("available_tracers", "timerlat osnoise nop\n");
    write("osnoise/options", "OSNOISE_WORKLOAD\n");
    write("osnoise/cpus", "0-7\n");
    write("current_tracer", "nop\n");
    write("instances/mine/current_tracer", "nop\n");
  }
  void write(const std::string& file, std::string_view content) const {
    std::filesystem::create_directories((folder_.path() / file).parent_path());
    std::ofstream{folder_.path() / file} << content;
  }
  [[nodiscard]] std::string text(const std::string& file) const {
    return HostFiles{folder_.path()}.text('/' + file).value_or("unreadable");
  }
  [[nodiscard]] std::string settings() const {
    return text("osnoise/options") + ", " + text("osnoise/cpus") + ", " + text("instances/mine/current_tracer");
  }
  [[nodiscard]] std::expected<OsnoiseTracer, std::string> start() const {
    return OsnoiseTracer::start(folder_.path(), folder_.path() / "instances/mine", {1, 3});
  }

  test::TemporaryFolder folder_;
};

constexpr std::string_view as_found = "OSNOISE_WORKLOAD, 0-7, nop";

TEST_F(OsnoiseTracerTest, traces_without_its_own_threads_and_puts_the_settings_back) {
  {
    const auto tracer = start();
    ASSERT_TRUE(tracer) << tracer.error();
    EXPECT_EQ(settings(), "NO_OSNOISE_WORKLOAD, 1,3, osnoise");
  }
  EXPECT_EQ(settings(), as_found);
}

TEST_F(OsnoiseTracerTest, a_start_that_fails_half_way_puts_the_settings_back) {
  std::filesystem::remove(folder_.path() / "instances/mine/current_tracer");
  const auto tracer = start();
  ASSERT_FALSE(tracer);
  EXPECT_TRUE(tracer.error().ends_with("/instances/mine/current_tracer: No such file or directory")) << tracer.error();
  EXPECT_EQ(settings(), "OSNOISE_WORKLOAD, 0-7, unreadable");
}

TEST_F(OsnoiseTracerTest, a_kernel_without_the_tracer_is_left_alone) {
  write("available_tracers", "blk function nop\n");
  EXPECT_EQ(start().error(), "this kernel has no such tracer");
  EXPECT_EQ(settings(), as_found);
}

TEST_F(OsnoiseTracerTest, a_kernel_that_knows_only_its_own_threads_is_left_alone) {
  std::filesystem::remove(folder_.path() / "osnoise/options");
  EXPECT_NE(start().error().find("osnoise/options: no such file"), std::string::npos);
  EXPECT_EQ(text("osnoise/cpus"), "0-7");
}

TEST_F(OsnoiseTracerTest, the_tracing_of_another_user_is_left_alone) {
  write("instances/rtla/current_tracer", "timerlat\n");
  EXPECT_TRUE(start().error().ends_with("/instances/rtla/current_tracer is timerlat")) << start().error();
  EXPECT_EQ(settings(), as_found);
}

// tracefs, as /proc/self/mounts names it.
class FindTracefsTest : public testing::Test {
 protected:
  FindTracefsTest() { std::filesystem::create_directories(folder_.path() / "proc/self"); }
  [[nodiscard]] std::expected<std::string, std::string> find(const std::string& mounts) const {
    std::ofstream{folder_.path() / "proc/self/mounts"} << mounts;
    return find_tracefs(HostFiles{folder_.path()});
  }

  test::TemporaryFolder folder_;
};

TEST_F(FindTracefsTest, is_found_where_it_is_mounted) {
  std::filesystem::create_directories(folder_.path() / "mnt/t/instances");
  EXPECT_EQ(find("proc /proc proc rw 0 0\ntracefs /mnt/t tracefs rw 0 0\n").value_or("none"), "/mnt/t");
}

TEST_F(FindTracefsTest, is_found_below_debugfs) {
  std::filesystem::create_directories(folder_.path() / "debug/tracing/instances");
  EXPECT_EQ(find("broken\ndebugfs /debug debugfs rw 0 0\n").value_or("none"), "/debug/tracing");
}

TEST_F(FindTracefsTest, says_how_to_get_it_when_it_is_not_mounted) {
  const auto found = find("proc /proc proc rw 0 0\n");
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().find("not mounted; use --mount-tracefs"), std::string::npos) << found.error();
}

TEST_F(FindTracefsTest, says_what_the_kernel_said_when_it_may_not_be_used) {
  const auto found = find("tracefs /mnt/gone tracefs rw 0 0\n");
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().find("/mnt/gone/instances: No such file or directory"), std::string::npos) << found.error();
}

}  // namespace
}  // namespace nfx
