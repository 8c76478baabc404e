// Reasons of refused Logons are one table: to_string and the documentation follow it.
#include <gtest/gtest.h>

#include "config/doc_table.hpp"
#include "nexusfix/session/notice.hpp"

namespace nfx {
namespace {

TEST(LogonRefusals, text_of_every_reason_is_that_of_its_row) {
  for (const LogonRefusalRow& row : logon_refusal_rows) EXPECT_EQ(to_string(row.reason), row.text) << row.name;
  EXPECT_EQ(to_string(LogonRefusalReason::unknown_session), "no such session");
}

TEST(LogonRefusals, the_documentation_has_every_row) {
  std::string table = "| reason | event log | meaning |\n|---|---|---|\n";
  for (const LogonRefusalRow& row : logon_refusal_rows) {
    if (row.reason == LogonRefusalReason::none) continue;
    table += "| `" + std::string{row.name} + "` | " + std::string{row.text} + " | " + std::string{row.help} + " |\n";
  }
  test::expect_table_in("docs/metrics.md", table);
}

}  // namespace
}  // namespace nfx
