// Two tests per scenario file: played against the session alone, and against the engine over TCP.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "run_scenario.hpp"
#include "session_peer.hpp"
#include "tcp_peer.hpp"

namespace nfx::conformance {
namespace {

std::vector<std::filesystem::path> scenario_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator{NFX_SOURCE_DIR "/tests/conformance/scenarios"}) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

std::string test_name(const testing::TestParamInfo<std::filesystem::path>& info) {
  std::string name = info.param.stem().string();
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

class Session : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Session, does_as_written) {
  const Scenario scenario = load_scenario(GetParam());
  SessionPeer peer{scenario.setup};
  const auto failure = run_scenario(scenario, peer);
  EXPECT_FALSE(failure.has_value()) << *failure;
}

class OverTcp : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(OverTcp, does_as_written) {
  const Scenario scenario = load_scenario(GetParam());
  TcpPeer peer{scenario.setup};
  const auto failure = run_scenario(scenario, peer);
  EXPECT_FALSE(failure.has_value()) << *failure;
}

INSTANTIATE_TEST_SUITE_P(scenario, OverTcp, testing::ValuesIn(scenario_files()), test_name);
INSTANTIATE_TEST_SUITE_P(scenario, Session, testing::ValuesIn(scenario_files()), test_name);

}  // namespace
}  // namespace nfx::conformance
