// The report of the nfx tls commands: findings with a result each, certificates, and the exit code.
#include "tls/tls.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/enumerator_name.hpp"
#include "command.hpp"
#include "json_output.hpp"
#include "text.hpp"
#include "transport/tls_option_rows.hpp"

namespace nfx::app {
namespace tls {
namespace {

std::string_view word(Result result) { return enumerator_name(result); }

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all.empty() ? "none" : all;
}

}  // namespace

void Report::add(Result result, std::string step, std::string text) {
  findings_.push_back({result, std::move(step), std::move(text)});
}

void Report::add_certificate(const std::string& what, const CertificateFacts& facts) {
  const auto today = now();
  Result result = Result::good;
  std::string dates = "valid from " + to_text(facts.not_before) + " until " + to_text(facts.not_after);
  if (facts.not_after < today) {
    result = Result::failure;
    dates += ": expired " + distance(facts.not_after, today) + "; renew it";
  } else if (facts.not_before > today) {
    result = Result::failure;
    dates += ": not valid yet; check this host's clock";
  } else if (facts.not_after - today < soon) {
    result = Result::warning;
    dates += ": expires " + distance(facts.not_after, today) + "; renew it now";
  }
  add(Result::note, what,
      facts.subject + ", issued by " + (facts.self_signed ? "itself" : facts.issuer) + ", names " +
          joined(facts.names) + ", SHA-256 " + facts.sha256);
  add(result, what, dates);
  if (facts.key_security_bits < 112) {
    add(Result::warning, what, facts.key + ": a weak key, which many peers refuse; use RSA of at least 2048 bits");
  }
  if (facts.signature.starts_with("sha1") || facts.signature.starts_with("md5")) {
    add(Result::warning, what, facts.signature + ": a weak signature, which many peers refuse");
  }
}

int Report::exit_code() const noexcept {
  int worst = exit_done;
  for (const Finding& finding : findings_) {
    if (finding.result == Result::warning) worst = std::max(worst, 1);
    if (finding.result == Result::failure) worst = std::max(worst, 2);
  }
  return worst;
}

SafeText Report::text() const {
  SafeText out;
  for (const Finding& finding : findings_) {
    const std::size_t start = out.size();
    out += word(finding.result);
    out.pad_to(start, 9);
    out += finding.step;
    out += ' ';
    out.pad_to(start, 26);
    out.add("{}\n", finding.text);
  }
  return out;
}

SafeText Report::json() const {
  Json findings = Json::array();
  for (const Finding& finding : findings_)
    findings.push_back({{"result", word(finding.result)}, {"step", finding.step}, {"text", finding.text}});
  return json_line({{"findings", std::move(findings)}, {"exit_code", exit_code()}});
}

int Report::print(std::string_view format) const {
  const bool printed = write(Stream::out, format == "json" ? json() : text()) == 0;
  return printed ? exit_code() : exit_wrong_usage;
}

std::string distance(std::chrono::sys_seconds time, std::chrono::sys_seconds from) {
  const bool past = time < from;
  const auto span = past ? from - time : time - from;
  const auto days = std::chrono::duration_cast<std::chrono::days>(span).count();
  const auto hours = std::chrono::duration_cast<std::chrono::hours>(span).count();
  const std::string length = days > 1 ? std::to_string(days) + " days" : std::to_string(hours) + " hours";
  return past ? length + " ago" : "in " + length;
}

std::chrono::sys_seconds now() { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); }

std::vector<cli::Option> file_options(TlsOptions& options, std::string& format) {
  std::vector<cli::Option> list;
  for (const TlsOption& row : tls_option_rows) {
    if (row.command_option.empty()) continue;
    const auto add = [&]<class Member>(Member TlsOptions::* member) {
      if constexpr (!std::is_enum_v<Member>) {
        list.push_back({.names = row.command_option,
                        .target = &(options.*member),
                        .help = row.help,
                        .kind = row.is_path ? cli::Kind::file : cli::Kind::text});
      }
    };
    std::visit(add, row.member);
  }
  list.push_back({.names = "--format", .target = &format, .help = "Output format", .one_of = {"text", "json"}});
  return list;
}

}  // namespace tls

cli::Command tls_command() {
  return {.name = "tls",
          .summary = "Check why encrypted connections work or fail: peers, certificates, keys",
          .commands = {tls::doctor_command(), tls::check_command()},
          .exit_codes = "0 ok, 1 warnings, 2 failures or wrong usage"};
}

}  // namespace nfx::app
