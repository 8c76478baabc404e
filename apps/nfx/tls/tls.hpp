// Shared by the commands of nfx tls. Findings are collected in order and printed at the end, as text or JSON. Exit
// codes: 0 ok, 1 warnings, 2 failures or wrong usage.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"
#include "output.hpp"
#include "transport/tls_context.hpp"
#include "transport/tls_facts.hpp"

namespace nfx::app::tls {

enum class Result : std::uint8_t { good, note, warning, failure };

struct Finding {
  Result result;
  std::string step;  // "certificate 1"
  std::string text;
};

class Report {
 public:
  void add(Result result, std::string step, std::string text);
  // Adds all findings about a certificate; `what` names it.
  void add_certificate(const std::string& what, const CertificateFacts& facts);
  [[nodiscard]] int exit_code() const noexcept;
  [[nodiscard]] SafeText text() const;
  [[nodiscard]] SafeText json() const;
  // Prints and returns the exit code.
  [[nodiscard]] int print(std::string_view format) const;

 private:
  std::vector<Finding> findings_;
};

// A certificate or a revocation list with less remaining time than this is a warning.
inline constexpr auto soon = std::chrono::days(30);

// "in 12 days", "3 days ago".
[[nodiscard]] std::string distance(std::chrono::sys_seconds time, std::chrono::sys_seconds now);
[[nodiscard]] std::chrono::sys_seconds now();

// The options of both commands.
[[nodiscard]] std::vector<cli::Option> file_options(TlsOptions& options, std::string& format);

cli::Command doctor_command();
cli::Command check_command();

}  // namespace nfx::app::tls
