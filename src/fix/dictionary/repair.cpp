// Keeps the texts of repairs up to a bound, and groups them by kind.
#include "nexusfix/dictionary/model.hpp"

namespace nfx {

void Repairs::add(RepairKind kind, std::string line) {
  std::size_t& count = counts_[std::to_underlying(kind)];
  if (count < max_listed) listed_.push_back({kind, std::move(line)});
  ++count;
  ++total_;
}

void Repairs::add(const Repairs& others) {
  std::array<std::size_t, repair_rows.size()> listed{};
  for (const Repair& each : others.listed_) {
    ++listed[std::to_underlying(each.kind)];
    add(each.kind, each.line);
  }
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    counts_[i] += others.counts_[i] - listed[i];
    total_ += others.counts_[i] - listed[i];
  }
}

std::vector<std::string> Repairs::lines() const {
  std::vector<std::string> lines;
  for (const Repair& each : listed_) lines.push_back(each.line);
  return lines;
}

std::vector<std::string> Repairs::summary() const {
  std::vector<std::string> lines;
  std::array<bool, repair_rows.size()> told{};
  for (const Repair& each : listed_) {
    bool& is_told = told[std::to_underlying(each.kind)];
    if (std::exchange(is_told, true)) continue;
    const std::size_t more = count(each.kind) - 1;
    lines.push_back(each.line + (more == 0 ? "" : " (and " + std::to_string(more) + " more like this)"));
  }
  return lines;
}

}  // namespace nfx
