// The documents of the API as text, and the arguments of a command out of one. Thread: any. Errors: a text that names
// the member and what it must be.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/target.hpp"

namespace nfx::control {

// The names of a session's states and of counters in the documents. "messages_in_total" is a metric without its prefix,
// and with the label that distinguishes the counters of one metric.
[[nodiscard]] std::string_view phase_name(Phase phase) noexcept;
[[nodiscard]] std::string counter_name(std::string_view metric, std::string_view label_value);

[[nodiscard]] std::string document_of(const SessionStatus& session, std::string_view result = {});
[[nodiscard]] std::string document_of(const SessionList& list);
[[nodiscard]] std::string document_of(const EngineView& engine);
[[nodiscard]] std::string document_of(const std::vector<ThreadReport>& threads,
                                      const std::vector<std::string>& warnings,
                                      const std::vector<RunningThread>& running);
// Of stages and sessions that have any latency. Without a report: nothing is measured.
[[nodiscard]] std::string document_of(LatencyWindow window, const std::optional<LatencyReport>& report);
[[nodiscard]] std::string document_of(LatencyWindow window, const std::vector<SlowMoment>& moments);
[[nodiscard]] std::string document_of(const RecentMessages& messages);
// Without a report: there is no plan.
[[nodiscard]] std::string document_of(const std::optional<PlacementReport>& placement,
                                      const std::vector<ThreadReport>& threads);
[[nodiscard]] std::string document_of(const StoreView& store);
[[nodiscard]] std::string document_of(const StoreVerification& verified);
[[nodiscard]] std::string document_of(const std::vector<RecentMessage>& messages);
[[nodiscard]] std::string result_document(std::string_view result, const std::vector<std::string>& problems = {});
// "planned", "done", "incomplete" or "nothing_to_do", and the differences.
[[nodiscard]] std::string document_of(const ReloadReport& report);
// `session` is added where there is one.
[[nodiscard]] std::string problem_document(unsigned status, std::string_view kind, std::string_view detail,
                                           const SessionStatus* session = nullptr);

// A body's members: those that the command takes, and no other. An empty body has none.
[[nodiscard]] std::expected<SessionCommand, std::string> command_of(std::string_view body,
                                                                    const SessionCommandRow& row);
// The member "text" alone.
// A body that was read, without space between its members.
[[nodiscard]] std::string compact(std::string_view body);
[[nodiscard]] std::expected<std::string, std::string> text_of(std::string_view body);
// The member "level", which has to be there.
[[nodiscard]] std::expected<LogLevel, std::string> level_of(std::string_view body);
// The member "config", which has to be there: a part of a configuration file.
[[nodiscard]] std::expected<std::string, std::string> config_of(std::string_view body);

}  // namespace nfx::control
