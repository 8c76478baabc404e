// A plan as text and as JSON.
#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "nexusfix/placement/plan.hpp"
#include "placement/numbers.hpp"
#include "placement/planner.hpp"

namespace nfx {
namespace {

using Json = nlohmann::ordered_json;

// A list of CPUs that fits into a column; the machine-readable form is complete.
std::string short_list(const CpuSet& cpus, std::size_t most = 32) {
  std::string text = cpus.to_list();
  if (text.empty()) return "-";
  if (text.size() <= most) return text;
  const std::size_t comma = text.rfind(',', most);
  if (comma == std::string::npos) return text;
  const std::size_t shown = CpuSet::parse_list(std::string_view{text}.substr(0, comma)).value_or(CpuSet{}).size();
  return text.substr(0, comma) + " +" + std::to_string(cpus.size() - shown);
}

using Row = std::array<std::string, 7>;

void print_table(std::string& out, const std::vector<Row>& rows) {
  std::array<std::size_t, std::tuple_size_v<Row>> width{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (width[i] == 0) continue;
      out += row[i];
      if (i + 1 < row.size()) out.append(width[i] - row[i].size() + 2, ' ');
    }
    out += '\n';
  }
}

void print_threads(std::string& out, const PlacementPlan& plan) {
  const bool realtime = std::ranges::any_of(plan.threads, [](const auto& thread) { return thread.priority > 0; });
  std::vector<Row> rows{{"thread", "role", "wait", realtime ? "priority" : "", "CPUs", "node", "why"}};
  for (const ThreadPlacement& thread : plan.threads) {
    rows.push_back({thread.name, std::string{to_string(thread.role)}, std::string{to_string(thread.wait)},
                    realtime ? std::to_string(thread.priority) : "", short_list(thread.cpus),
                    thread.numa_node < 0 ? "-" : std::to_string(thread.numa_node), thread.reason});
  }
  print_table(out, rows);
}

void print_sessions(std::string& out, const PlacementPlan& plan) {
  if (plan.session_threads.empty()) return;
  std::vector<std::vector<std::string>> names(plan.threads.size() + 1);
  for (std::size_t i = 0; i < plan.session_threads.size(); ++i) {
    names[std::min<std::size_t>(plan.session_threads[i], plan.threads.size())].push_back(
        i < plan.session_names.size() ? plan.session_names[i] : "session " + std::to_string(i + 1));
  }
  out += '\n' + planning::count_of(plan.session_threads.size(), "session") + ":\n";
  for (std::size_t i = 0; i < plan.threads.size(); ++i) {
    if (names[i].empty()) continue;
    out += "  " + plan.threads[i].name + " (" + (plan.threads[i].cpus.size() == 1 ? "CPU " : "CPUs ") +
           short_list(plan.threads[i].cpus) + "): " + std::to_string(names[i].size()) + ": " +
           one_line(planning::join(names[i], 5)) + '\n';
  }
}

std::string refused_line(const RefusedAlternative& refused) {
  std::string list = short_list(refused.cpus);
  if (list.size() < 12) list.resize(12, ' ');
  return "    " + list + "  " + one_line(refused.why) + '\n';
}

// Lines that apply to all threads are printed once, and threads with equal lines share them. The table already shows
// where other threads busy-poll.
void print_refused(std::string& out, const PlacementPlan& plan) {
  std::map<std::string, std::size_t> counts;
  std::size_t threads = 0;
  for (const ThreadPlacement& thread : plan.threads) {
    if (thread.refused.empty() || thread.wait != ThreadWait::spin) continue;
    ++threads;
    for (const RefusedAlternative& refused : thread.refused) ++counts[refused_line(refused)];
  }
  if (threads == 0) return;
  std::vector<std::pair<std::vector<std::string>, std::string>> blocks;
  std::string common;
  for (const ThreadPlacement& thread : plan.threads) {
    if (thread.refused.empty() || thread.wait != ThreadWait::spin) continue;
    std::string lines, shared;
    for (const RefusedAlternative& refused : thread.refused) {
      const std::string line = refused_line(refused);
      if (threads > 1 && counts[line] == threads) {
        shared += line;
      } else if (refused.why != planning::why_spinning) {
        lines += line;
      }
    }
    common = std::move(shared);
    if (blocks.empty() || blocks.back().second != lines) blocks.emplace_back(std::vector<std::string>{}, lines);
    blocks.back().first.push_back(thread.name);
  }
  out += "\nNot taken:\n";
  if (!common.empty()) out += "  by any\n" + common;
  for (const auto& [names, lines] : blocks) {
    if (!lines.empty()) out += "  " + planning::join(names) + '\n' + lines;
  }
}

Json json_of(const ThreadPlacement& thread) {
  Json json{{"name", thread.name},
            {"role", to_string(thread.role)},
            {"index", thread.index},
            {"wait", to_string(thread.wait)},
            {"cpus", thread.cpus.to_list()},
            {"priority", thread.priority},
            {"numa_node", thread.numa_node < 0 ? Json(nullptr) : Json(thread.numa_node)},
            {"reason", thread.reason},
            {"refused", Json::array()}};
  for (const RefusedAlternative& refused : thread.refused) {
    json["refused"].push_back({{"cpus", refused.cpus.to_list()}, {"why", refused.why}});
  }
  return json;
}

}  // namespace

std::string to_text(const PlacementPlan& plan, const Topology& topology) {
  std::string out = "plan " + plan.hash + " for " + (topology.source.empty() ? "a machine" : one_line(topology.source));
  if (!topology.machine.empty()) out += " (" + one_line(topology.machine) + ')';
  out += "\n\n";
  print_threads(out, plan);
  print_sessions(out, plan);
  out += "\nisolated CPUs " + short_list(plan.isolated_cpus, 100) + "\nhousekeeping  " +
         short_list(plan.housekeeping, 100) + '\n';
  print_refused(out, plan);
  if (!plan.findings.empty()) out += '\n';
  for (const PlanFinding& finding : plan.findings) {
    out += std::string{to_string(finding.severity)} + " [" + finding.id + "] " + one_line(finding.text) +
           "\n  fix: " + one_line(finding.fix) + '\n';
  }
  return out;
}

std::string to_json(const PlacementPlan& plan) {
  Json json{{"hash", plan.hash},
            {"refused", plan.refused()},
            {"isolated", plan.isolated_cpus.to_list()},
            {"housekeeping", plan.housekeeping.to_list()},
            {"threads", Json::array()},
            {"sessions", Json::array()},
            {"findings", Json::array()}};
  for (const ThreadPlacement& thread : plan.threads) json["threads"].push_back(json_of(thread));
  for (std::size_t i = 0; i < plan.session_threads.size(); ++i) {
    const std::uint32_t thread = plan.session_threads[i];
    Json session{{"name", i < plan.session_names.size() ? plan.session_names[i] : ""}, {"poll_thread", thread}};
    if (thread < plan.threads.size()) session["cpus"] = plan.threads[thread].cpus.to_list();
    json["sessions"].push_back(std::move(session));
  }
  for (const PlanFinding& finding : plan.findings) {
    json["findings"].push_back({{"severity", to_string(finding.severity)},
                                {"id", finding.id},
                                {"subject", finding.subject},
                                {"text", finding.text},
                                {"fix", finding.fix}});
  }
  // Names may contain bytes that are not UTF-8; the rest must stay readable.
  return json.dump(2, ' ', true, Json::error_handler_t::replace) + '\n';
}

}  // namespace nfx
