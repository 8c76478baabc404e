// Names of sessions: they are unique, and names without special characters have never changed.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "nexusfix/config/engine_config.hpp"

namespace nfx {
namespace {

SessionConfig named(std::string ours, std::string theirs, std::string qualifier = {}) {
  SessionConfig config;
  config.sender_comp_id = std::move(ours);
  config.target_comp_id = std::move(theirs);
  config.session_qualifier = std::move(qualifier);
  return config;
}

TEST(Identity, of_names_without_special_characters_is_their_text) {
  EXPECT_EQ(identity(named("US", "PEER")), "FIX.4.4:US->PEER");
  EXPECT_EQ(identity(named("US", "PEER", "second")), "FIX.4.4:US->PEER:second");
  EXPECT_EQ(identity(named("A-B>C%D", "E->F", "a:b->c")), "FIX.4.4:A-B>C%D->E->F:a:b->c");
  EXPECT_EQ(former_identity(named("A-B>C%D", "E->F")), "");
}

TEST(Identity, escapes_what_would_be_read_as_a_separator_and_says_what_it_was) {
  EXPECT_EQ(identity(named("V->A", "B")), "FIX.4.4:V-%3EA->B");
  EXPECT_EQ(former_identity(named("V->A", "B")), "FIX.4.4:V->A->B");
  EXPECT_EQ(identity(named("V", "A->B")), "FIX.4.4:V->A->B");
  EXPECT_EQ(former_identity(named("V", "A->B")), "");
  EXPECT_EQ(identity(named("V", "A:B")), "FIX.4.4:V->A%3AB");
  EXPECT_EQ(former_identity(named("V", "A:B")), "FIX.4.4:V->A:B");
  EXPECT_EQ(identity(named("V-%3EA", "B")), "FIX.4.4:V-%253EA->B");
}

// All names of up to five relevant pieces, on both sides and as a qualifier.
TEST(Identity, is_never_that_of_another_session) {
  const std::vector<std::string> pieces{"-", ">", ":", "%", "3E", "3A", "25", "A"};
  std::vector<std::string> names{"A"};
  for (std::size_t begin = 0, depth = 0; depth < 3; ++depth) {
    const std::size_t end = names.size();
    for (std::size_t i = begin; i < end; ++i) {
      for (const std::string& piece : pieces) names.push_back((depth == 0 ? "" : names[i]) + piece);
    }
    begin = end;
  }
  std::map<std::string, std::tuple<std::string, std::string, std::string>> seen;
  const auto add = [&](const std::string& ours, const std::string& theirs, const std::string& qualifier) {
    const auto parts = std::tuple{ours, theirs, qualifier};
    const auto [at, fresh] = seen.emplace(identity(named(ours, theirs, qualifier)), parts);
    EXPECT_TRUE(fresh || at->second == parts) << at->first;
  };
  for (const std::string& ours : names) {
    for (const std::string& theirs : names) {
      if (ours.size() + theirs.size() <= 6) add(ours, theirs, {});
      if (ours.size() + theirs.size() <= 4) {
        for (const std::string& qualifier : pieces) add(ours, theirs, qualifier);
      }
    }
  }
  EXPECT_GT(seen.size(), 10'000u);
}

}  // namespace
}  // namespace nfx
