// Runs the checks of the table and prints their findings.
#include "nexusfix/host/doctor.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <variant>

#include "base/enumerator_name.hpp"
#include "host/doctor/check.hpp"
#include "nexusfix/base/assert.hpp"
#include "placement/numbers.hpp"

namespace nfx {
namespace {

// The descriptions in the table, completed by what the rest of a row implies.
const std::vector<CheckInfo>& infos() {
  static const std::vector<CheckInfo> all = [] {
    std::vector<CheckInfo> infos;
    for (const doctor::Check& check : doctor::checks()) {
      CheckInfo& info = infos.emplace_back(check.info);
      info.area = info.id.substr(0, info.id.find('.'));
      const auto* setting = std::get_if<doctor::Setting>(&check.how);
      if (setting != nullptr && !setting->file.empty()) info.source = setting->file;
    }
    return infos;
  }();
  return all;
}

void run(const doctor::Check& check, const doctor::Examination& e, doctor::Report& report) {
  if (const auto* setting = std::get_if<doctor::Setting>(&check.how)) return look_at(*setting, e, report);
  if (const auto* look = std::get_if<doctor::Look*>(&check.how)) return (*look)(e, report);
  if (report.no_network(e)) return;
  for (const NetworkDevice& device : e.network) std::get<doctor::DeviceLook*>(check.how)(e, device, report);
}

constexpr std::array results{CheckResult::failure, CheckResult::warning, CheckResult::cannot_tell,
                             CheckResult::info,    CheckResult::good,    CheckResult::not_here};

std::size_t count(std::span<const DoctorFinding> findings, CheckResult result) {
  return static_cast<std::size_t>(
      std::ranges::count_if(findings, [&](const DoctorFinding& finding) { return finding.result == result; }));
}

std::string words(CheckResult result) {
  std::string text{to_string(result)};
  std::ranges::replace(text, '_', ' ');
  return text;
}

bool wants_a_fix(CheckResult result) { return result == CheckResult::warning || result == CheckResult::failure; }

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

}  // namespace

std::string_view to_string(CheckResult result) noexcept { return enumerator_name(result); }

std::span<const CheckInfo> doctor_checks() noexcept { return infos(); }

const CheckInfo* find_check(std::string_view id) noexcept {
  const auto found = std::ranges::find(infos(), id, &CheckInfo::id);
  return found == infos().end() ? nullptr : &*found;
}

std::vector<DoctorFinding> examine(const DoctorInput& input) {
  const doctor::Examination examination{input};
  std::vector<DoctorFinding> findings;
  for (std::size_t i = 0; i < infos().size(); ++i) {
    doctor::Report report{infos()[i], findings};
    run(doctor::checks()[i], examination, report);
    if (report.said_nothing()) report.not_here("nothing to check");
    NFX_ASSERT(findings.back().check == &infos()[i]);  // findings have the order of the checks
  }
  return findings;
}

HostExit exit_of(std::span<const DoctorFinding> findings) noexcept {
  HostExit exit = HostExit::ok;
  for (const DoctorFinding& finding : findings) {
    switch (finding.result) {
      case CheckResult::good:
      case CheckResult::info:
      case CheckResult::not_here: break;
      case CheckResult::warning: exit = combine(exit, HostExit::warnings); break;
      case CheckResult::failure: exit = combine(exit, HostExit::failures); break;
      case CheckResult::cannot_tell: exit = combine(exit, HostExit::cannot_tell); break;
    }
  }
  return exit;
}

std::string to_text(std::span<const DoctorFinding> findings, bool everything) {
  std::string text;
  for (const CheckResult result : results) {
    const bool shown = everything || wants_a_fix(result) || result == CheckResult::cannot_tell;
    for (const DoctorFinding& finding : findings) {
      if (!shown || finding.result != result) continue;
      text += padded(words(result), 11) + "  " + padded(std::string{finding.check->id}, 31) + "  ";
      if (!finding.subject.empty()) text += one_line(finding.subject) + ": ";
      text += one_line(finding.seen) + '\n';
      const std::string indent(13, ' ');
      if (!finding.wanted.empty()) text += indent + "wanted: " + one_line(finding.wanted) + '\n';
      if (!wants_a_fix(result)) continue;
      if (!finding.check->fix_runtime.empty())
        text += indent + "now: " + std::string{finding.check->fix_runtime} + '\n';
      if (!finding.check->fix_boot.empty()) text += indent + "boot: " + std::string{finding.check->fix_boot} + '\n';
    }
  }
  text += std::to_string(doctor_checks().size()) + " checks";
  const char* separator = ": ";
  for (const CheckResult result : results) {
    if (const std::size_t number = count(findings, result); number != 0) {
      text += separator + std::to_string(number) + ' ' + words(result);
      if (wants_a_fix(result) && number != 1) text += 's';
      separator = ", ";
    }
  }
  text += '\n';
  if (!everything && text.contains("wanted: "))
    text += "'nfx host explain ID' prints the reason and the cost of a fix.\n";
  return text;
}

std::string to_json(std::span<const DoctorFinding> findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const DoctorFinding& finding : findings) {
    const CheckInfo& check = *finding.check;
    list.push_back({{"id", check.id},
                    {"area", check.area},
                    {"title", check.title},
                    {"result", to_string(finding.result)},
                    {"subject", finding.subject},
                    {"seen", finding.seen},
                    {"wanted", finding.wanted},
                    {"source", check.source},
                    {"why", check.why},
                    {"fix_runtime", check.fix_runtime},
                    {"fix_boot", check.fix_boot},
                    {"risk", check.risk}});
  }
  nlohmann::ordered_json summary;
  summary["checks"] = doctor_checks().size();
  for (const CheckResult result : results) summary[std::string{to_string(result)}] = count(findings, result);
  nlohmann::ordered_json all;
  all["summary"] = std::move(summary);
  all["findings"] = std::move(list);
  // Names of tasks and devices may contain any bytes.
  return all.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace nfx
