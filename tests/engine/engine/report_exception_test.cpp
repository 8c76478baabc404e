// How the end of a program by an exception is printed: one line, with the exit code of its kind.
#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <string>

#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/engine/program.hpp"
#include "nexusfix/engine/run.hpp"

namespace nfx {
namespace {

struct Report {
  int code = 0;
  std::string text;

  friend bool operator==(const Report&, const Report&) = default;
};

template <class Throw>
Report report_of(Throw&& throw_it) {
  ::testing::internal::CaptureStderr();
  int code = 0;
  try {
    throw_it();
  } catch (...) {
    code = report_exception("nfx");
  }
  return {code, ::testing::internal::GetCapturedStderr()};
}

TEST(ReportedExceptions, a_file_that_cannot_be_used_is_its_path_and_the_reason) {
  const auto rename = [] { std::filesystem::rename("/nowhere/a", "/nowhere/b"); };
  EXPECT_EQ(report_of(rename), (Report{ExitCode::failed, "nfx: /nowhere/b: No such file or directory\n"}));
  const auto make = [] { std::filesystem::create_directory("/nowhere/a"); };
  EXPECT_EQ(report_of(make), (Report{ExitCode::failed, "nfx: /nowhere/a: No such file or directory\n"}));
  const auto without_path = [] {
    throw std::filesystem::filesystem_error("copying", std::make_error_code(std::errc::no_space_on_device));
  };
  EXPECT_EQ(report_of(without_path).text, "nfx: No space left on device\n");
}

TEST(ReportedExceptions, memory_that_is_not_there_is_said_in_words) {
  EXPECT_EQ(report_of([] { throw std::bad_alloc{}; }), (Report{ExitCode::failed, "nfx: out of memory\n"}));
}

TEST(ReportedExceptions, a_wrong_configuration_has_the_code_of_wrong_usage) {
  EXPECT_EQ(report_of([] { throw ConfigError("a.toml:1:1: wrong"); }),
            (Report{ExitCode::wrong_usage, "nfx: a.toml:1:1: wrong\n"}));
}

}  // namespace
}  // namespace nfx
