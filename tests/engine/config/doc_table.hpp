// Documentation tables generated from tables in the code. A test compares them; with the environment variable
// NFX_WRITE_DOCS it writes them into the page instead.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace nfx::test {

// The lines of a page that begin with '|', from the table's first line up to the first other line.
inline void expect_table_in(const std::string& page_name, const std::string& table) {
  const std::string path = NFX_SOURCE_DIR "/" + page_name;
  std::string page;
  {
    std::ifstream in{path, std::ios::binary};
    page.assign(std::istreambuf_iterator<char>{in}, {});
  }
  const std::string first = table.substr(0, table.find('\n') + 1);
  const std::size_t begin = page.starts_with(first) ? 0 : page.find('\n' + first) + 1;
  ASSERT_TRUE(begin != 0 || page.starts_with(first)) << page_name << " has no line\n" << first;
  std::size_t end = begin;
  while (end < page.size() && page[end] == '|') end = std::min(page.find('\n', end), page.size() - 1) + 1;
  if (std::getenv("NFX_WRITE_DOCS") != nullptr) {
    page.replace(begin, end - begin, table);
    std::ofstream{path, std::ios::binary} << page;
    return;
  }
  EXPECT_EQ(page.substr(begin, end - begin), table)
      << page_name << " differs from the code: run this test with NFX_WRITE_DOCS=1";
}

}  // namespace nfx::test
