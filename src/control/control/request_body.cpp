// Parses bodies of requests and checks their members.
#include "control/request_body.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>

#include "control/documents.hpp"
#include "nexusfix/session/session.hpp"

namespace nfx::control {
namespace {

// The members of an object. Each must be allowed and may occur once. Throws std::string.
Json members_of(std::string_view body) {
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) return Json::object();
  constexpr std::size_t deepest = 4;
  bool too_deep = false;
  std::string twice;
  std::array<std::set<std::string>, deepest + 2> names;  // names in the open objects
  const Json::parser_callback_t look = [&](int depth, Json::parse_event_t event, Json& parsed) {
    const auto at = static_cast<std::size_t>(depth);
    too_deep = too_deep || at > deepest;
    if (too_deep) return false;
    if (event == Json::parse_event_t::object_start) names[at + 1].clear();
    if (event == Json::parse_event_t::key && !names[at].insert(parsed.get<std::string>()).second)
      twice = parsed.get<std::string>();
    return true;
  };
  Json json = Json::parse(body, look, false);
  if (too_deep || json.is_discarded() || !json.is_object())
    throw std::string{"the body is not a JSON object, such as {\"next_out\": 120}"};
  if (!twice.empty()) throw "duplicate member \"" + twice + '"';
  return json;
}

// JSON Schema treats 12.0 as an integer too. Returns 0 if the number is not an integer, or not exact.
std::uint64_t whole_number(const Json& json) {
  if (json.is_number_unsigned()) return json.get<std::uint64_t>();
  const double number = json.is_number_float() ? json.get<double>() : 0;
  return number >= 1 && number < 0x1p53 && number == std::trunc(number) ? static_cast<std::uint64_t>(number) : 0;
}

std::string unknown_member(const std::string& name) { return "unknown member \"" + name + '"'; }

SeqNum number_of(const Json& json, const std::string& name) {
  const std::uint64_t number = whole_number(json);
  if (number == 0 || number >= value(Session::seq_num_limit)) throw name + ": expected a sequence number, 1 or more";
  return SeqNum{number};
}

void read_numbers(const Json& json, const std::string& prefix, NextNumbers& into) {
  if (!json.is_object()) throw prefix + ": expected an object with next_in, next_out or both";
  for (const auto& [name, member] : json.items()) {
    if (name == "next_in") {
      into.in = number_of(member, prefix + name);
    } else if (name == "next_out") {
      into.out = number_of(member, prefix + name);
    } else {
      throw unknown_member(prefix + name) + "; expected next_in or next_out";
    }
  }
}

std::string text_member(const Json& json, const std::string& name) {
  constexpr std::size_t longest = 256;
  if (!json.is_string()) throw name + ": expected a text";
  std::string text = json.get<std::string>();
  const bool printable = std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x20; });
  if (text.size() > longest || !printable) throw name + ": expected at most 256 bytes without control characters";
  return text;
}

void read_member(const std::string& name, const Json& member, const SessionCommandRow& row, SessionCommand& into) {
  const auto is = [&](std::string_view wanted, unsigned argument) { return name == wanted && row.takes(argument); };
  if (is("next_in", CommandArguments::numbers)) {
    into.numbers.in = number_of(member, name);
  } else if (is("next_out", CommandArguments::numbers)) {
    into.numbers.out = number_of(member, name);
  } else if (is("expected", CommandArguments::expected)) {
    read_numbers(member, "expected.", into.expected);
  } else if (is("from", CommandArguments::from)) {
    into.from = number_of(member, name);
  } else if (is("text", CommandArguments::text)) {
    into.text = text_member(member, name);
  } else {
    throw std::string{row.name} + ": " + unknown_member(name);
  }
}

std::string only_text(const Json& json, const std::string& name, const std::string& expected) {
  if (json.size() != 1 || !json.contains(name) || !json[name].is_string())
    throw "expected \"" + name + "\", " + expected + ", and no other member";
  return json[name].get<std::string>();
}

// The result of `read` for the members, or its exception as an error.
template <class Read>
auto read_body(std::string_view body, Read&& read) -> std::expected<decltype(read(Json{})), std::string> {
  try {
    return read(members_of(body));
  } catch (const std::string& what) {
    return std::unexpected(what);
  }
}

Json number_schema(std::string_view help) {
  return {{"type", "integer"}, {"minimum", 1}, {"maximum", value(Session::seq_num_limit) - 1}, {"description", help}};
}

Json numbers_schema(std::string_view of) {
  return {{"next_in", number_schema("The next sequence number expected from the peer" + std::string{of})},
          {"next_out", number_schema("The sequence number of the next message sent" + std::string{of})}};
}

Json logout_text_schema(std::string_view help) {
  return {{"type", "string"}, {"maxLength", 256}, {"pattern", "^[^\\u0000-\\u001f]*$"}, {"description", help}};
}

Json closed_schema(Json properties) {
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
}

}  // namespace

std::expected<SessionCommand, std::string> command_of(std::string_view body, const SessionCommandRow& row) {
  return read_body(body, [&](const Json& json) {
    SessionCommand command{.kind = row.kind};
    for (const auto& [name, member] : json.items()) read_member(name, member, row, command);
    if (row.takes(CommandArguments::numbers) && command.numbers == NextNumbers{})
      throw std::string{"set: expected next_in, next_out or both"};
    if (row.takes(CommandArguments::from) && command.from == SeqNum{})
      throw std::string{"resend: expected from, the first sequence number"};
    return command;
  });
}

std::expected<std::string, std::string> logout_text_of(std::string_view body) {
  return read_body(body, [](const Json& json) {
    std::string text;
    for (const auto& [name, member] : json.items()) {
      if (name != "text") throw unknown_member(name) + "; expected text";
      text = text_member(member, name);
    }
    return text;
  });
}

std::expected<LogLevel, std::string> level_of(std::string_view body) {
  return read_body(body, [](const Json& json) {
    const std::string expected = enum_names(LogLevel::error);
    const auto level = parse_enum(only_text(json, "level", expected), LogLevel::error);
    if (!level) throw "level: expected " + expected;
    return *level;
  });
}

std::expected<std::string, std::string> config_of(std::string_view body) {
  return read_body(body, [](const Json& json) {
    return only_text(json, "config", "a text with one [[session]] as in the configuration file");
  });
}

std::expected<Nothing, std::string> nothing_in(std::string_view body) {
  return read_body(body, [](const Json& json) {
    if (!json.empty()) throw unknown_member(json.begin().key());
    return Nothing{};
  });
}

std::string compact(std::string_view body) {
  const Json json = Json::parse(body, nullptr, false);
  return json.is_discarded() ? std::string{} : json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

MakeSchema command_schema(const SessionCommandRow& row) {
  if (row.arguments == 0) return {};
  return [&row](Json&) {
    Json properties = Json::object();
    if (row.takes(CommandArguments::numbers)) properties = numbers_schema(".");
    if (row.takes(CommandArguments::from)) properties["from"] = number_schema("The first message to be resent.");
    if (row.takes(CommandArguments::expected)) {
      properties["expected"] = with_help(closed_schema(numbers_schema(", as the caller has seen it.")),
                                         "Refused with 412 unless they are equal.");
    }
    if (row.takes(CommandArguments::text)) properties["text"] = logout_text_schema("Text(58) of the Logout.");
    Json schema = closed_schema(std::move(properties));
    // Not as "anyOf", because client generators would create classes for its parts.
    if (row.takes(CommandArguments::numbers)) {
      schema["minProperties"] = 1;
      schema["not"] = {{"required", {"expected"}}, {"maxProperties", 1}};
    }
    if (row.takes(CommandArguments::from)) schema["required"] = {"from"};
    return schema;
  };
}

std::string command_example(const SessionCommandRow& row) {
  if (row.takes(CommandArguments::numbers)) return R"({"next_out": 12})";
  return row.takes(CommandArguments::from) ? R"({"from": 2})" : "";
}

Json drain_schema(Json&) { return closed_schema({{"text", logout_text_schema("Text(58) of the Logouts.")}}); }

Json level_schema(Json& schemas) { return object_schema({{"level", schema_of<LogLevel>(schemas)}}); }

Json config_schema(Json&) {
  return object_schema({{"config", with_help(text_schema(),
                                             "One [[session]] in TOML, as in the configuration file; perhaps with "
                                             "[defaults].")}});
}

}  // namespace nfx::control
