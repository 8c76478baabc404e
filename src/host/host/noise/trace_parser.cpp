// Parses the text format of tracefs. Task names may contain anything.
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "host/trace_reader.hpp"
#include "placement/proc_text.hpp"

namespace nfx {
namespace {

using Edge = TraceEvent::Edge;

// The value of "key=", up to `until`, or up to the end of the text if `until` is empty or not found.
std::string_view field(std::string_view text, std::string_view key, std::string_view until) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + key.size());
  return until.empty() ? text : text.substr(0, text.find(until));
}

// The position of " [003] ". The name before it is 16 columns wide and may itself contain such a number.
struct CpuField {
  int cpu = 0;
  std::size_t end = 0;
};
std::optional<CpuField> find_cpu(std::string_view line) {
  const bool padded = line.size() > 17 && line[16] == '-';
  for (std::size_t open = line.find(" [", padded ? 17 : 0); open != std::string_view::npos;
       open = line.find(" [", open + 1)) {
    const std::size_t close = line.find(']', open);
    if (close == std::string_view::npos) return std::nullopt;
    const auto cpu = number<int>(line.substr(open + 2, close - open - 2));
    if (cpu && *cpu >= 0 && *cpu < CpuSet::max_cpus) return CpuField{*cpu, close + 1};
  }
  return std::nullopt;
}

// "35167.074951" is seconds; "105501221074951" is a TSC value.
std::optional<std::int64_t> time_since_origin(std::string_view text, const TickClock& clock) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) {
    const auto ticks = number<std::uint64_t>(text);
    if (!ticks) return std::nullopt;
    return clock.tsc ? clock.ns_since_origin(*ticks) : static_cast<std::int64_t>(*ticks - clock.origin_raw_ns);
  }
  const auto seconds = number<std::uint64_t>(text.substr(0, point));
  std::string_view digits = text.substr(point + 1);
  auto fraction = number<std::uint64_t>(digits.substr(0, 9));
  if (!seconds || !fraction || *seconds > 9'000'000'000U) return std::nullopt;
  for (std::size_t i = digits.size(); i < 9; ++i) *fraction *= 10;
  return static_cast<std::int64_t>(*seconds * 1'000'000'000 + *fraction - clock.origin_raw_ns);
}

// "comm=NAME pid=N ..." with any prefix before both keys. A name may contain anything, so it ends at the last "pid=".
struct NamedThread {
  std::string name;
  int id = 0;
};
std::optional<NamedThread> named_thread(std::string_view text, std::string_view prefix) {
  const std::string comm = std::string{prefix} + "comm=", pid = ' ' + std::string{prefix} + "pid=";
  const std::size_t at = text.rfind(pid);
  if (!text.starts_with(comm) || at == std::string_view::npos || at < comm.size()) return std::nullopt;
  const auto id = number<int>(field(text.substr(at), pid, " "));
  if (!id) return std::nullopt;
  // The idle task has a different name on each CPU.
  return NamedThread{std::string{*id == 0 ? "idle" : text.substr(comm.size(), at - comm.size())}, *id};
}

bool fill_switch(TraceEvent& event, std::string_view payload) {
  // prev_comm=a b prev_pid=1 prev_prio=120 prev_state=R+ ==> next_comm=c next_pid=2 next_prio=120
  constexpr std::string_view arrow = " ==> ";
  const std::size_t at = payload.find(" ==> next_comm=");
  if (at == std::string_view::npos) return false;
  auto previous = named_thread(payload.substr(0, at), "prev_");
  auto next = named_thread(payload.substr(at + arrow.size()), "next_");
  if (!previous || !next) return false;
  event.kind = NoiseKind::task;
  event.edge = Edge::change;
  event.thread_id = next->id;
  event.thread_id_before = previous->id;
  event.name = std::move(next->name);
  event.name_before = std::move(previous->name);
  return true;
}

// The purpose of an x86 interrupt vector, by the name of its event.
NoiseKind vector_kind(std::string_view name) {
  if (name == "local_timer") return NoiseKind::timer;
  if (name.starts_with("call_function") || name == "reschedule" || name == "x86_platform_ipi") return NoiseKind::ipi;
  return NoiseKind::kernel;
}

bool is_vector(std::string_view name) {
  return vector_kind(name) != NoiseKind::kernel || name == "irq_work" || name.ends_with("_apic");
}

// An event of the osnoise tracer: "NAME:NUMBER start SECONDS duration N ns".
bool fill_whole(TraceEvent& event, std::string_view name, std::string_view payload) {
  const std::size_t start = payload.rfind("start ");
  if (start == std::string_view::npos) return false;
  const auto duration = number<std::uint64_t>(field(payload.substr(start), " duration ", " "));
  if (!duration) return false;
  event.edge = Edge::whole;
  event.duration_ns = *duration;
  if (name == "nmi_noise") {
    event.kind = NoiseKind::nmi;
    return true;
  }
  payload = trimmed(payload.substr(0, start));
  const std::size_t colon = payload.rfind(':');
  const auto id = colon == std::string_view::npos ? std::nullopt : number<int>(payload.substr(colon + 1));
  if (!id) return false;
  event.name = std::string{payload.substr(0, colon)};
  if (name == "thread_noise") {
    event.kind = NoiseKind::task;
    event.thread_id = *id;
    if (*id == 0) event.name = "idle";
  } else if (name == "softirq_noise") {
    event.kind = NoiseKind::softirq;
  } else if (is_vector(event.name)) {
    event.kind = vector_kind(event.name);
    if (event.kind == NoiseKind::timer) event.name.clear();
  } else {
    event.kind = NoiseKind::interrupt;
    event.name.insert(0, std::to_string(*id) + ' ');
  }
  return true;
}

// False if the event is of no interest. Sets `known` to false if it is of interest but could not be parsed.
bool fill(TraceEvent& event, std::string_view name, std::string_view payload, bool& known) {
  if (name == "sched_switch") {
    known = fill_switch(event, payload);
    return known;
  }
  if (name == "thread_noise" || name == "irq_noise" || name == "softirq_noise" || name == "nmi_noise") {
    known = fill_whole(event, name, payload);
    return known;
  }
  event.edge = name.ends_with("_exit") ? Edge::exit : Edge::entry;
  if (name == "irq_handler_entry" || name == "irq_handler_exit") {
    event.kind = NoiseKind::interrupt;
    const std::string_view number = field(payload, "irq=", " ");
    event.name = std::string{number.substr(0, number.find_first_not_of("0123456789"))};
    known = !event.name.empty();
    if (const std::string_view handler = field(payload, "name=", ""); !handler.empty()) {
      event.name += ' ';
      event.name += trimmed(handler);
    }
    return known;
  }
  if (name == "softirq_entry" || name == "softirq_exit") {
    event.kind = NoiseKind::softirq;
    event.name = std::string{field(payload, "action=", "]")};
    known = !event.name.empty();
    return known;
  }
  if (name == "ipi_entry" || name == "ipi_exit") {
    event.kind = NoiseKind::ipi;
    event.name = std::string{field(payload, "(", ")")};
    return true;
  }
  if (!payload.starts_with("vector=") || !(name.ends_with("_entry") || name.ends_with("_exit"))) return false;
  name = name.substr(0, name.rfind('_'));
  event.kind = vector_kind(name);
  if (event.kind != NoiseKind::timer) event.name = std::string{name};
  return true;
}

// "CPU:1 [LOST 123 EVENTS]"
std::optional<std::uint64_t> lost_events(std::string_view line) {
  const std::size_t at = line.find("[LOST ");
  if (!line.starts_with("CPU:") || at == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(at + 6);
  return number<std::uint64_t>(next_word(rest)).value_or(1);
}

}  // namespace

void TraceParser::line(std::string_view text) {
  if (trimmed(text).empty() || text.starts_with('#')) return;
  if (const auto count = lost_events(text)) {
    lost += *count;
    return;
  }
  const auto cpu = find_cpu(text);
  if (!cpu) {
    ++not_understood;
    return;
  }
  std::string_view rest = text.substr(cpu->end);
  // Flags precede the time unless the option irq-info is off.
  std::string_view time = next_word(rest);
  if (!time.ends_with(':')) time = next_word(rest);
  const std::string_view name = next_word(rest);
  const auto when = time.ends_with(':') ? time_since_origin(time.substr(0, time.size() - 1), clock_) : std::nullopt;
  if (!when || !name.ends_with(':')) {
    ++not_understood;
    return;
  }
  TraceEvent event;
  event.time_ns = *when;
  event.cpu = cpu->cpu;
  bool known = true;
  if (fill(event, name.substr(0, name.size() - 1), trimmed(rest), known)) events.push_back(std::move(event));
  if (!known) ++not_understood;
}

void TraceParser::text(std::string_view text) {
  while (!text.empty()) line(next_line(text));
}

}  // namespace nfx
