// Prometheus' text format, and a file that is replaced atomically, so that readers never see a partial one.
#include "engine/metrics.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "base/error_text.hpp"
#include "base/printable.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx {
namespace {

bool is_name(std::string_view name, bool colons) noexcept {
  const auto fits = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (colons && c == ':');
  };
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::ranges::all_of(name, fits);
}

// Labels contain session names, which a template's peers choose: control characters must not reach a terminal.
void append_escaped(std::string& out, std::string_view text, bool quotes) {
  std::string printable;
  append_printable_lines(printable, text);
  for (const char c : printable) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

// Formats a bound as clients in Go and Python do, "0.0001" and "1.0", because selectors compare text.
std::string bound_text(double value) {
  std::array<char, 64> text;
  const bool fixed = value == 0 || (value >= 1e-4 && value < 1e6);
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value,
                                          fixed ? std::chars_format::fixed : std::chars_format::scientific);
  std::string bound{text.data(), end};
  if (bound.find_first_of(".e") == std::string::npos) bound += ".0";
  return bound;
}

double seconds(std::uint64_t ns) noexcept { return static_cast<double>(ns) / 1e9; }

void append_sample(std::string& out, std::string_view name, std::string_view suffix, MetricsPage::Labels labels,
                   std::string_view bound, std::string_view value) {
  out += name;
  out += suffix;
  char before = '{';
  const auto append_label = [&](std::string_view label, std::string_view its_value) {
    out += std::exchange(before, ',');
    out += label;
    out += "=\"";
    append_escaped(out, its_value, true);
    out += '"';
  };
  for (const MetricLabel& label : labels) {
    NFX_REQUIRE(is_name(label.name, false));
    append_label(label.name, label.value);
  }
  if (!bound.empty()) append_label("le", bound);
  if (before == ',') out += '}';
  out += ' ';
  out += value;
  out += '\n';
}

struct HistogramTotals {
  std::uint64_t count = 0, sum_ns = 0;
};

// `count_up_to` is the number of latencies at or below the bound with this index.
template <class CountUpTo>
void append_histogram(std::string& out, std::string_view name, MetricsPage::Labels labels,
                      std::span<const std::uint64_t> bounds_ns, CountUpTo count_up_to, HistogramTotals totals) {
  for (std::size_t i = 0; i < bounds_ns.size(); ++i) {
    append_sample(out, name, "_bucket", labels, bound_text(seconds(bounds_ns[i])), std::to_string(count_up_to(i)));
  }
  append_sample(out, name, "_bucket", labels, "+Inf", std::to_string(totals.count));
  append_sample(out, name, "_sum", labels, "", number(seconds(totals.sum_ns)));
  append_sample(out, name, "_count", labels, "", std::to_string(totals.count));
}

// Closes the file and, unless it is finished, removes it.
struct Unfinished {
  std::string path;
  int fd = -1;
  bool kept = false;

  ~Unfinished() {
    if (fd >= 0) ::close(fd);
    if (fd >= 0 && !kept) ::unlink(path.c_str());
  }
};

// Returns an error text, or an empty string on success.
std::string replace_file(const std::filesystem::path& path, std::string_view text) {
  // Readers of metrics are other users, and the file contains no secrets.
  Unfinished file{.path = path.string() + ".tmp", .fd = -1, .kept = false};
  file.fd = ::open(file.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
  if (file.fd < 0) return cannot("write", file.path, errno);
  while (!text.empty()) {
    const ssize_t written = ::write(file.fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return cannot("write", file.path, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::rename(file.path.c_str(), path.c_str()) != 0) return cannot("rename", file.path, errno);
  file.kept = true;
  return {};
}

}  // namespace

std::string& MetricsPage::samples_of(MetricName name, Kind kind) {
  NFX_REQUIRE(is_name(name.name, true));
  const auto found = std::ranges::find(families_, name.name, &Family::name);
  if (found == families_.end()) {
    return families_.emplace_back(Family{std::string{name.name}, std::string{name.help}, kind, {}}).samples;
  }
  NFX_REQUIRE(found->kind == kind);
  return found->samples;
}

void MetricsPage::counter(MetricName name, Labels labels, std::uint64_t value) {
  append_sample(samples_of(name, Kind::counter), name.name, "", labels, "", std::to_string(value));
}

void MetricsPage::gauge(MetricName name, Labels labels, double value) {
  append_sample(samples_of(name, Kind::gauge), name.name, "", labels, "", number(value));
}

void MetricsPage::histogram(MetricName name, Labels labels, const LatencyCounts& latencies) {
  // One copy, so that all lines show the same counts.
  const LatencyCounts copy = latencies;
  append_histogram(samples_of(name, Kind::histogram), name.name, labels, latency_bounds_ns,
                   [&](std::size_t bound) { return copy.count_up_to(latency_bounds_ns[bound]); },
                   {copy.count(), copy.sum()});
}

void MetricsPage::histogram(MetricName name, Labels labels, const LatencyHistogram& latencies,
                            std::span<const std::uint64_t> bounds_ns) {
  NFX_REQUIRE(std::ranges::is_sorted(bounds_ns));
  append_histogram(samples_of(name, Kind::histogram), name.name, labels, bounds_ns,
                   [&](std::size_t bound) { return latencies.count_up_to(bounds_ns[bound]); },
                   {latencies.count(), latencies.sum()});
}

std::string MetricsPage::text() const {
  std::string out;
  for (const Family& family : families_) {
    out += "# HELP " + family.name + ' ';
    append_escaped(out, family.help, false);
    out += "\n# TYPE " + family.name + ' ';
    switch (family.kind) {
      case Kind::counter: out += "counter\n"; break;
      case Kind::gauge: out += "gauge\n"; break;
      case Kind::histogram: out += "histogram\n"; break;
    }
    out += family.samples;
  }
  return out;
}

std::string MetricsPage::open_metrics() const {
  constexpr std::string_view total = "_total";
  std::string out;
  for (const Family& family : families_) {
    std::string_view name = family.name;
    std::string_view type = family.kind == Kind::gauge ? "gauge" : "histogram";
    if (family.kind == Kind::counter) {
      type = name.ends_with(total) ? "counter" : "unknown";
      if (name.ends_with(total)) name.remove_suffix(total.size());
    }
    out.append("# TYPE ").append(name).append(" ").append(type).append("\n# HELP ").append(name).append(" ");
    append_escaped(out, family.help, true);
    out.append("\n").append(family.samples);
  }
  return out += "# EOF\n";
}

MetricsFile::MetricsFile(MetricsFileOptions options, Collect collect)
    : options_(std::move(options)), collect_(std::move(collect)) {
  if (options_.period <= Duration::zero()) throw std::runtime_error("metrics period: expected more than 0 ns");
  std::filesystem::path folder = options_.path.parent_path();
  if (folder.empty()) folder = ".";
  if (!options_.path.has_filename() || !std::filesystem::is_directory(folder)) {
    throw std::runtime_error("metrics file \"" + options_.path.string() + "\": give a file in a folder that exists");
  }
}

bool MetricsFile::step(MonotonicTime now) {
  if (now < next_) return false;
  next_ = now + options_.period;
  return write();
}

bool MetricsFile::write() {
  MetricsPage page;
  collect_(page);
  const std::string error = replace_file(options_.path, page.text());
  if (error.empty()) {
    failing_ = false;
    return true;
  }
  ++failures_;
  if (!std::exchange(failing_, true) && options_.on_failure) {
    options_.on_failure(error + "; metrics are as old as the file until it can be written again");
  }
  return false;
}

}  // namespace nfx
