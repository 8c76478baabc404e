// A table of metrics as in the documentation.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "nexusfix/base/counter_rows.hpp"

namespace nfx::test {

class MetricTable {
 public:
  explicit MetricTable(const std::string& first = "metric")
      : text_("| " + first + " | labels | type | meaning |\n|---|---|---|---|\n") {}

  template <class Counters>
  void add_counters(const std::string& label) {
    for (const auto& row : counter_rows<Counters>) {
      add(row.metric, row.label.empty() ? label : label + ", " + std::string{row.label}, "counter", row.help);
    }
  }
  // Each metric once, whatever its labels.
  void add(std::string_view metric, const std::string& labels, const std::string& type, std::string_view help) {
    if (!metrics_.emplace(metric).second) return;
    EXPECT_TRUE(help.ends_with('.')) << metric;
    text_ += "| `" + std::string{metric} + "` | " + labels + " | " + type + " | " + std::string{help} + " |\n";
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::set<std::string, std::less<>> metrics_;
};

}  // namespace nfx::test
