// Reports of planned and made changes, as text and as JSON.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/error_text.hpp"
#include "host/apply.hpp"
#include "host/apply/tasks.hpp"
#include "placement/numbers.hpp"

namespace nfx {
namespace {

using nlohmann::json;

// Bytes that are not text must not stop a report.
std::string dump(const json& object) { return object.dump(2, ' ', true, json::error_handler_t::replace) + '\n'; }

std::string shown(std::string_view content) {
  while (!content.empty() && (content.back() == '\n' || content.back() == ' ')) content.remove_suffix(1);
  return content.empty() ? "nothing" : std::string{content};
}

std::string describe(const Change& change) {
  switch (change.kind) {
    case ChangeKind::write_file: return change.path + ": " + shown(change.seen) + " -> " + change.wanted;
    case ChangeKind::make_group: return change.path + ": made, a control group";
    case ChangeKind::move_tasks: return change.from + " -> " + change.path + ": its tasks, to CPUs " + change.wanted;
    case ChangeKind::set_affinities: return change.from + ": masks, where needed, to CPUs " + change.wanted;
    case ChangeKind::install_file:
      return change.path + ": " + (change.existed ? std::to_string(change.seen.size()) + " bytes" : "nothing") +
             " -> " + std::to_string(change.wanted.size()) + " bytes";
    case ChangeKind::make_directory: return change.path + ": made, a folder";
  }
  return {};
}

json change_json(const Change& change) {
  json object{{"kind", to_string(change.kind)},
              {"area", change.area},
              {"path", change.path},
              {"wanted", change.wanted},
              {"why", change.why}};
  if (!change.from.empty()) object["from"] = change.from;
  if (change.kind == ChangeKind::write_file || change.kind == ChangeKind::install_file) {
    object["seen"] = change.seen;
    object["existed"] = change.existed;
  }
  return object;
}

json refused_json(const std::vector<RefusedTask>& tasks) {
  json rows = json::array();
  for (const RefusedTask& task : tasks)
    rows.push_back({{"tid", task.task.tid}, {"name", task.task.name}, {"errno", task.error}});
  return rows;
}

std::string lines(std::string_view head, const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += std::string{head} + one_line(text) + '\n';
  return out;
}

}  // namespace

std::string to_text(std::span<const Change> changes) {
  if (changes.empty()) return "nothing to change: the host is as planned\n";
  std::string out;
  for (const Change& change : changes)
    out += change.area + "  " + one_line(describe(change)) + "\n    " + one_line(change.why) + '\n';
  return out;
}

std::string to_json(std::span<const Change> changes) {
  json rows = json::array();
  for (const Change& change : changes) rows.push_back(change_json(change));
  return dump(json{{"changes", std::move(rows)}});
}

std::string to_text(const ApplyReport& report) {
  std::string out;
  std::map<Outcome, std::size_t> counts;
  std::size_t untried = 0;
  for (const ChangeResult& change : report.changes) {
    if (!change.done) {
      ++untried;
      continue;
    }
    ++counts[change.result.outcome];
    std::string word{to_string(change.result.outcome)};
    word.resize(10, ' ');
    out += word + one_line(describe(change.change));
    if (change.result.error != 0) out += ": " + system_text(change.result.error);
    if (change.result.error == 0 && change.result.outcome == Outcome::refused)
      out += ": reads " + one_line(shown(change.result.seen));
    if (change.result.outcome == Outcome::pending) out += ": with the next interrupt";
    out += '\n';
  }
  if (!report.refused_tasks.empty()) {
    out += "kernel threads that stay where they are:";
    for (const RefusedTask& task : report.refused_tasks)
      out += ' ' + one_line(task.task.name) + " (" + std::to_string(task.task.tid) + ")";
    out += '\n';
  }
  out += lines("note: ", report.notes);
  if (!report.error.empty()) out += "failed: " + one_line(report.error) + '\n';
  if (report.rolled_back && !report.changes.empty())
    out += "rolled back: all changes were undone; " + std::to_string(untried) + " changes were not tried\n";
  if (report.error.empty() && report.changes.empty() && report.tasks_moved == 0) {
    out += "nothing changed: the host is as planned\n";
  } else if (!report.rolled_back) {
    out += std::to_string(counts[Outcome::accepted]) + " accepted, " + std::to_string(counts[Outcome::pending]) +
           " pending, " + std::to_string(counts[Outcome::refused]) + " refused; " + std::to_string(report.tasks_moved) +
           " tasks moved\n";
  }
  return out;
}

std::string to_json(const ApplyReport& report) {
  json rows = json::array();
  for (const ChangeResult& change : report.changes) {
    json row = change_json(change.change);
    row["outcome"] = change.done ? to_string(change.result.outcome) : "not tried";
    if (change.result.error != 0) row["errno"] = change.result.error;
    rows.push_back(std::move(row));
  }
  return dump(json{{"exit", std::to_underlying(report.exit)},
                   {"error", report.error},
                   {"rolled_back", report.rolled_back},
                   {"tasks_moved", report.tasks_moved},
                   {"refused_tasks", refused_json(report.refused_tasks)},
                   {"changes", std::move(rows)},
                   {"notes", report.notes}});
}

std::string to_text(const RevertReport& report) {
  if (!report.found) return "nothing to restore: there is no record of changes\n";
  return lines("note: ", report.notes) + lines("left: ", report.left) + "restored " + std::to_string(report.restored) +
         " of " + std::to_string(report.changes) + '\n';
}

std::string to_json(const RevertReport& report) {
  return dump(json{{"exit", std::to_underlying(report.exit)},
                   {"found", report.found},
                   {"changes", report.changes},
                   {"restored", report.restored},
                   {"tasks_restored", report.tasks_restored},
                   {"left", report.left},
                   {"notes", report.notes}});
}

std::string to_text(const VerifyReport& report) {
  std::string out;
  for (const VerifyItem& item : report.items) {
    std::string result{to_string(item.result)}, id = item.id;
    result.resize(10, ' ');
    id.resize(std::max<std::size_t>(id.size() + 1, 22), ' ');
    out += result + id + one_line(item.seen);
    if (item.result != VerifyResult::ok) out += "; wanted: " + one_line(item.wanted);
    out += '\n';
  }
  return out;
}

std::string to_json(const VerifyReport& report) {
  json rows = json::array();
  for (const VerifyItem& item : report.items)
    rows.push_back({{"id", item.id}, {"result", to_string(item.result)}, {"seen", item.seen}, {"wanted", item.wanted}});
  return dump(json{{"exit", std::to_underlying(report.exit)}, {"items", std::move(rows)}});
}

}  // namespace nfx
