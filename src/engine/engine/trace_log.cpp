// The text of traces, and the files that they are appended to.
#include "engine/trace_log.hpp"

#include <unistd.h>

#include <array>
#include <charconv>
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "nexusfix/engine/latency.hpp"
#include "placement/thread_name.hpp"

namespace nfx {
namespace {

using Json = nlohmann::ordered_json;

constexpr int internal_span = 1;  // values of OTLP's SpanKind
constexpr int server_span = 2;

// Sixteen digits; zeros are an invalid identifier.
std::string random_id(std::mt19937_64& random) {
  std::uint64_t value = 0;
  while (value == 0) value = random();
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  const std::string text{digits.data(), end};
  return std::string(digits.size() - text.size(), '0') + text;
}

Json attribute(std::string_view key, std::string_view value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}
// 64-bit numbers are text in this encoding.
Json attribute(std::string_view key, std::uint64_t value) {
  return {{"key", key}, {"value", {{"intValue", std::to_string(value)}}}};
}

struct Span {
  std::string_view name;
  Duration begin{}, end{};  // since the read
};

class Trace {
 public:
  Trace(const TraceRecord& record, Instant now, std::mt19937_64& random)
      : read_(now.utc - (now.monotonic - record.read)), id_(random_id(random) + random_id(random)), random_(random) {}

  [[nodiscard]] Json span(const Span& span, int kind, const std::string& parent) {
    Json json{{"traceId", id_}, {"spanId", random_id(random_)}};
    if (!parent.empty()) json["parentSpanId"] = parent;
    json["name"] = span.name;
    json["kind"] = kind;
    json["startTimeUnixNano"] = nanoseconds(span.begin);
    json["endTimeUnixNano"] = nanoseconds(span.end);
    return json;
  }

 private:
  [[nodiscard]] std::string nanoseconds(Duration since_read) const {
    return std::to_string(
        std::chrono::duration_cast<std::chrono::nanoseconds>((read_ + since_read).time_since_epoch()).count());
  }

  UtcTime read_;
  std::string id_;
  std::mt19937_64& random_;
};

std::string_view text_of(SendWait wait) noexcept {
  switch (wait) {
    case SendWait::nothing: return "nothing";
    case SendWait::disk: return "disk";
    case SendWait::peer: return "peer";
  }
  return "nothing";
}

void append(Json& spans, const NamedTrace& of, Instant now, std::mt19937_64& random) {
  const TraceRecord& record = of.record;
  Trace trace{record, now, random};
  const bool answered = record.left > Duration::zero();
  Json whole = trace.span({"message", -record.before_read, answered ? record.left : record.back}, server_span, {});
  whole["attributes"] = {attribute("nexusfix.session", of.session),
                         attribute("nexusfix.msg_seq_num", std::to_underlying(record.seq_num)),
                         attribute("nexusfix.answer_waited_for", text_of(record.wait)),
                         attribute("thread.name", thread_name(ThreadRole::poll, of.poll_thread))};
  const std::string parent = whole["spanId"];
  spans.push_back(std::move(whole));
  const auto add = [&](LatencyStage stage, Duration begin, Duration end) {
    spans.push_back(trace.span({to_string(stage), begin, end}, internal_span, parent));
  };
  if (record.before_read > Duration::zero()) add(LatencyStage::kernel_to_read, -record.before_read, Duration::zero());
  add(LatencyStage::read_to_application, Duration::zero(), record.called);
  add(LatencyStage::in_application, record.called, record.back);
  if (answered) add(LatencyStage::commit_to_socket, record.back, record.left);
}

LogFileOptions file_options(const LogConfig& config) {
  return {.folder = config.directory,
          .name = "traces",
          .max_bytes = config.rotate_bytes,
          .keep_files = config.keep_files,
          .keep_days = static_cast<std::uint32_t>(config.keep_age.count())};
}

LogFile open_file(const LogConfig& config) {
  try {
    return LogFile{file_options(config)};
  } catch (const std::exception& error) {
    throw ConfigError(std::string{"[log] "} + error.what());
  }
}

}  // namespace

std::string otlp_line(std::span<const NamedTrace> traces, Instant now, std::mt19937_64& random) {
  Json spans = Json::array();
  for (const NamedTrace& trace : traces) append(spans, trace, now, random);
  const Json resource{
      {"attributes",
       {attribute("service.name", "nexusfix"), attribute("process.pid", static_cast<std::uint64_t>(::getpid()))}}};
  const Json scope{{"scope", {{"name", "nexusfix"}}}, {"spans", std::move(spans)}};
  const Json line{{"resourceSpans", Json::array({{{"resource", resource}, {"scopeSpans", Json::array({scope})}}})}};
  // The name of a session may have bytes that are not UTF-8.
  return line.dump(-1, ' ', true, Json::error_handler_t::replace) + '\n';
}

TraceLog::TraceLog(const LogConfig& config, Alert alert) : file_(open_file(config)), alert_(std::move(alert)) {
  std::random_device device;
  std::seed_seq seed{device(), device(), device(), device()};
  random_.seed(seed);
}

void TraceLog::write(std::span<const NamedTrace> traces, Instant now) {
  if (traces.empty()) return;
  const auto written = file_.append(now.utc, otlp_line(traces, now, random_));
  if (!written) lost_.store(lost_.load(std::memory_order_relaxed) + traces.size(), std::memory_order_relaxed);
  const bool began = !written && !failing_;
  failing_ = !written;
  if (began) alert_("traces are lost: " + written.error().text);
}

}  // namespace nfx
