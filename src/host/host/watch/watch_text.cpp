// One screen of watch. Rows that do not fit are cut by importance and counted.
#include <algorithm>

#include "host/watch_view.hpp"
#include "placement/numbers.hpp"

namespace nfx {
namespace {

// One line of a frame, cut at the width. Colours take no space.
class Line {
 public:
  explicit Line(const WatchViewOptions& options) : Line(options, options.width) {}
  Line(const WatchViewOptions& options, std::size_t width) : colours_(options.colours), width_(width) {}

  void text(std::string_view text, std::string_view colour = {}) {
    text = text.substr(0, width_ - std::min(width_, used_));
    if (text.empty()) return;
    used_ += text.size();
    if (!colour.empty()) out_ += colour;
    out_ += text;
    if (!colour.empty()) out_ += colours_.plain;
  }
  void right(std::string_view value, std::size_t width, std::string_view colour = {}) {
    if (value.size() < width) text(std::string(width - value.size(), ' '));
    text(value, colour);
  }
  void left(std::string_view value, std::size_t width, std::string_view colour = {}) {
    text(value.substr(0, width), colour);
    if (value.size() < width) text(std::string(width - value.size(), ' '));
  }
  [[nodiscard]] std::string take() {
    if (const std::size_t end = out_.find_last_not_of(' '); end != std::string::npos) out_.resize(end + 1);
    return std::move(out_);
  }

 private:
  const WatchColours& colours_;
  std::size_t width_;
  std::size_t used_ = 0;
  std::string out_;
};

// The width of a column of numbers, with the blank before it, and the widths before and after the numbers in a CPU's
// row.
constexpr std::size_t column = 5;

std::string percent(double value) { return value < 9.95 ? fixed(value, 1) + '%' : fixed(value, 0) + '%'; }

class Frame {
 public:
  Frame(const WatchInterval& interval, const WatchViewOptions& options)
      : interval_(interval), options_(options), c_(options.colours) {}

  std::string draw() {
    const std::size_t wanted_alerts = alert_lines();
    if (!options_.alerts_only) {
      head();
      share_room(wanted_alerts);
      cpus();
      threads();
    }
    alerts();
    return std::move(out_);
  }

 private:
  void put(Line& line) {
    if (options_.height != 0 && lines_ == options_.height) return;
    out_ += line.take();
    out_ += '\n';
    ++lines_;
  }
  void put(std::string_view text, std::string_view colour = {}) {
    Line line{options_};
    line.text(text, colour);
    put(line);
  }

  [[nodiscard]] std::size_t alert_lines() const {
    const auto& drift = interval_.drift;
    return drift.alerts.size() + (drift.left_out != 0 ? 1 : 0) + interval_.notes.size() +
           (drift.alerts.empty() ? 1 : 0);
  }

  // Divides the rows below the head: first alerts, up to a third, then CPUs, then threads.
  void share_room(std::size_t alerts) {
    cpu_rows_ = interval_.cpus.size();
    thread_rows_ = interval_.threads.size();
    alert_rows_ = alerts;
    if (options_.height == 0) return;
    const std::size_t fixed_lines = lines_ + 1 + (thread_rows_ == 0 ? 0 : 1);
    std::size_t room = options_.height > fixed_lines ? options_.height - fixed_lines : 0;
    const std::size_t all = cpu_rows_ + thread_rows_ + alert_rows_;
    if (all <= room) return;
    // Each part that is cut has a line that says so.
    alert_rows_ = std::min(
        alert_rows_, std::max<std::size_t>(
                         room / 3, room > cpu_rows_ + thread_rows_ ? room - cpu_rows_ - thread_rows_ : std::size_t{1}));
    room -= std::min(room, alert_rows_);
    thread_rows_ = std::min(thread_rows_, std::max(room / 2, room > cpu_rows_ ? room - cpu_rows_ : std::size_t{0}));
    cpu_rows_ = std::min(cpu_rows_, room - thread_rows_);
  }

  void head() {
    Line line{options_};
    line.text("nfx host watch", c_.bold);
    if (!options_.title.empty()) line.text("  " + printable_text(options_.title));
    line.text("  " + fixed(interval_.seconds, 2) + " s  ");
    const std::size_t alerts = interval_.drift.alerts.size() + interval_.drift.left_out;
    line.text(std::to_string(interval_.threads.size()) + (interval_.threads.size() == 1 ? " thread  " : " threads  "));
    line.text(std::to_string(alerts) + (alerts == 1 ? " alert" : " alerts"), alerts == 0 ? c_.green : c_.red);
    put(line);
  }

  void cpus() {
    Line line{options_};
    line.text(" CPU ROLE   BUSY STEAL STALL  MIG  VOL INVO TIMR  DEV  IPI  TLB SOFT FALT THREADS", c_.cyan);
    put(line);
    // Rows without an engine thread may be left out.
    std::vector<const CpuActivity*> rows;
    for (const CpuActivity& cpu : interval_.cpus) rows.push_back(&cpu);
    const auto ours = [](const CpuActivity* cpu) { return cpu->role == CpuRole::isolated || !cpu->threads.empty(); };
    if (cpu_rows_ < rows.size()) {
      std::ranges::sort(rows, {}, [&](const CpuActivity* cpu) { return std::pair{!ours(cpu), cpu->cpu}; });
      const std::size_t kept = cpu_rows_ == 0 ? 0 : cpu_rows_ - 1;
      const std::size_t left_out = rows.size() - kept;
      rows.resize(kept);
      std::ranges::sort(rows, {}, [](const CpuActivity* cpu) { return cpu->cpu; });
      for (const CpuActivity* cpu : rows) cpu_row(*cpu);
      if (cpu_rows_ != 0) put(" ... and " + std::to_string(left_out) + " CPUs, which do not fit the screen", c_.dim);
      return;
    }
    for (const CpuActivity* cpu : rows) cpu_row(*cpu);
  }

  void cpu_row(const CpuActivity& cpu) {
    const bool isolated = cpu.role == CpuRole::isolated;
    Line line{options_};
    line.right(std::to_string(cpu.cpu), 4, c_.bold);
    line.text(" ");
    line.left(cpu.role == CpuRole::other ? "other"
              : isolated                 ? "isol"
                                         : "hkeep",
              5, isolated ? c_.cyan : std::string_view{});
    line.right(fixed(cpu.busy_percent, 0) + '%', 6);
    line.right(percent(cpu.steal_percent), 6, cpu.steal_percent > 1 ? c_.red : std::string_view{});
    line.right(compact_us(cpu.stall_us), 6, warn(isolated && cpu.stall_us > 100));
    // Events that should not happen on an isolated CPU are highlighted there.
    number(line, cpu.migrations, isolated);
    number(line, cpu.voluntary_switches, false);
    number(line, cpu.involuntary_switches, isolated);
    number(line, cpu.timer, false);
    number(line, cpu.devices, isolated);
    number(line, cpu.ipis(), isolated);
    number(line, cpu.tlb_shootdowns, isolated);
    number(line, cpu.softirqs, false);
    number(line, cpu.faults, isolated);
    line.text(" ");
    line.text(names(cpu));
    put(line);
  }

  [[nodiscard]] std::string_view warn(bool wrong) const { return wrong ? c_.yellow : std::string_view{}; }

  void number(Line& line, double value, bool unwanted) {
    line.right(compact(value), column, value == 0 ? c_.dim : warn(unwanted));
  }

  // A narrow frame omits the prefix that all engine threads share.
  std::string names(const CpuActivity& cpu) const {
    std::string text;
    for (const std::size_t index : cpu.threads) {
      if (text.size() > options_.width) break;
      std::string_view name = interval_.threads[index].now.name;
      if (options_.width < 100 && name.starts_with(engine_thread_prefix))
        name.remove_prefix(engine_thread_prefix.size());
      if (!text.empty()) text += ' ';
      text += name;
    }
    return text;
  }

  void threads() {
    if (interval_.threads.empty()) return;
    put("THREAD              TID CPU MASK      RUN STALL  MIG  VOL INVO MINF MAJF SCHED", c_.cyan);
    std::size_t shown = interval_.threads.size();
    if (thread_rows_ < shown) shown = thread_rows_ == 0 ? 0 : thread_rows_ - 1;
    for (std::size_t i = 0; i < shown; ++i) thread_row(interval_.threads[i]);
    if (shown < thread_rows_ && shown < interval_.threads.size())
      put("... and " + std::to_string(interval_.threads.size() - shown) + " threads", c_.dim);
  }

  void thread_row(const ThreadActivity& thread) {
    const ThreadSample& now = thread.now;
    Line line{options_};
    line.left(now.name, 15, thread.planned ? c_.bold : std::string_view{});
    line.right(std::to_string(now.tid), 8);
    line.right(now.cpu < 0 ? "-" : std::to_string(now.cpu), 4);
    line.text(" ");
    std::string mask = now.allowed.empty() ? "-" : now.allowed.to_list();
    if (mask.size() > 7) mask = mask.substr(0, 5) + "..";
    line.left(mask, 7);
    if (!thread.measured) {
      line.text("  began in this interval", c_.dim);
      put(line);
      return;
    }
    line.right(now.run_ns ? fixed(thread.run_percent, 0) + '%' : "-", 6);
    line.right(now.wait_ns ? compact_us(thread.stall_us) : "-", 6);
    const bool pinned = now.allowed.size() == 1;
    number(line, thread.migrations, pinned);
    number(line, thread.voluntary_switches, false);
    number(line, thread.involuntary_switches, pinned);
    number(line, thread.minor_faults, pinned);
    number(line, thread.major_faults, true);
    std::string how = scheduling(now.policy, now.priority);
    if (options_.width < 100 && how.starts_with("SCHED_")) how.erase(0, 6);
    line.text(' ' + how);
    put(line);
  }

  void alerts() {
    const DriftReport& drift = interval_.drift;
    if (options_.alerts_only) alert_rows_ = alert_lines();
    if (drift.alerts.empty() && !options_.alerts_only && alert_rows_ != 0) put("no alerts", c_.green);
    std::size_t shown = drift.alerts.size();
    if (alert_lines() > alert_rows_) shown = std::min(shown, alert_rows_ == 0 ? 0 : alert_rows_ - 1);
    for (std::size_t i = 0; i < shown; ++i) {
      const Alert& alert = drift.alerts[i];
      // Alert lines are cut only on a screen.
      Line line{options_, options_.height == 0 ? std::string_view::npos : options_.width};
      if (options_.alerts_only && !interval_.utc.empty()) line.text(interval_.utc + "  ");
      line.text(to_string(alert.drift), c_.red);
      line.text("  " + alert.subject, c_.bold);
      line.text(": " + alert.text);
      put(line);
    }
    const std::size_t left_out = drift.alerts.size() - shown + drift.left_out;
    if (left_out != 0 && alert_rows_ != 0) put("... and " + std::to_string(left_out) + " alerts", c_.red);
    if (alert_lines() > alert_rows_ || options_.alerts_only) return;
    for (const std::string& note : interval_.notes) put("note: " + printable_text(note), c_.dim);
  }

  const WatchInterval& interval_;
  const WatchViewOptions& options_;
  const WatchColours& c_;
  std::string out_;
  std::size_t lines_ = 0;
  std::size_t cpu_rows_ = 0;
  std::size_t thread_rows_ = 0;
  std::size_t alert_rows_ = 0;
};

}  // namespace

std::string to_text(const WatchInterval& interval, const WatchViewOptions& options) {
  return Frame{interval, options}.draw();
}

}  // namespace nfx
