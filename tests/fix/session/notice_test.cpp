// Notices are one table: to_string and the documentation follow it.
#include <gtest/gtest.h>

#include "config/doc_table.hpp"
#include "nexusfix/session/notice.hpp"

namespace nfx {
namespace {

TEST(Notices, text_of_every_notice_is_that_of_its_row) {
  for (const NoticeRow& row : notice_rows) EXPECT_EQ(to_string(row.notice), row.text) << row.name;
  EXPECT_EQ(to_string(Notice::gap_detected), "gap detected, resend requested");
  EXPECT_EQ(to_string(static_cast<Notice>(notice_rows.size())), "?");
}

TEST(Notices, the_documentation_has_every_row) {
  std::string table = "| event log | `Notice::` | meaning |\n|---|---|---|\n";
  for (const NoticeRow& row : notice_rows) {
    if (row.notice == Notice::none) continue;
    table += "| " + std::string{row.text} + " | `" + std::string{row.name} + "` | " + std::string{row.help} + " |\n";
  }
  test::expect_table_in("docs/metrics.md", table);
}

}  // namespace
}  // namespace nfx
