// Bodies of requests: parses their values, and describes their schemas for OpenAPI.
// Thread: any. Errors: a text that names the member and its valid values.
#pragma once

#include <expected>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "control/routes.hpp"
#include "nexusfix/log/log_format.hpp"

namespace nfx::control {

// A body with exactly the members that the command takes. An empty body has none.
[[nodiscard]] std::expected<SessionCommand, std::string> command_of(std::string_view body,
                                                                    const SessionCommandRow& row);
[[nodiscard]] MakeSchema command_schema(const SessionCommandRow& row);  // empty: the command takes no member
[[nodiscard]] std::string command_example(const SessionCommandRow& row);
// The optional member "text".
[[nodiscard]] std::expected<std::string, std::string> logout_text_of(std::string_view body);
[[nodiscard]] nlohmann::ordered_json drain_schema(nlohmann::ordered_json& schemas);
// The member "level".
[[nodiscard]] std::expected<LogLevel, std::string> level_of(std::string_view body);
[[nodiscard]] nlohmann::ordered_json level_schema(nlohmann::ordered_json& schemas);
// The member "config": a part of a configuration file.
[[nodiscard]] std::expected<std::string, std::string> config_of(std::string_view body);
[[nodiscard]] nlohmann::ordered_json config_schema(nlohmann::ordered_json& schemas);
// No member.
struct Nothing {};
[[nodiscard]] std::expected<Nothing, std::string> nothing_in(std::string_view body);

// The parsed body, without space between its members.
[[nodiscard]] std::string compact(std::string_view body);

}  // namespace nfx::control
