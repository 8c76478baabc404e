// Documents of the API. A struct has one row for each member of its document: name, value and meaning. Answers and
// their schemas in the OpenAPI description are made from the same rows, so they always agree.
// Thread: any. Cost: creates JSON.
#pragma once

#include <array>
#include <concepts>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "control/routes.hpp"
#include "control/target.hpp"
#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/base/enum_values.hpp"

namespace nfx::control {

using Json = nlohmann::ordered_json;

// Parts of schemas.
[[nodiscard]] Json text_schema();
[[nodiscard]] Json count_schema(std::uint64_t least = 0);
[[nodiscard]] Json time_schema();
[[nodiscard]] Json always(const Json& value);
[[nodiscard]] Json one_of(const std::vector<std::string_view>& values);
[[nodiscard]] Json either(std::vector<Json> schemas);
[[nodiscard]] Json list_schema(Json each);
[[nodiscard]] Json empty_list(Json each);
[[nodiscard]] Json filled_list(Json each);
// A schema for an object with exactly these members.
[[nodiscard]] Json object_schema(const std::vector<std::pair<std::string_view, Json>>& members);
[[nodiscard]] Json with_help(Json schema, std::string_view help);

[[nodiscard]] std::string time_text(UtcTime time);  // with milliseconds
[[nodiscard]] std::string text_of(const Json& json);

// A member that is omitted if it is empty; an empty std::optional is null.
template <class V>
struct Omitted : std::optional<V> {
  using std::optional<V>::optional;
};

template <class V>
[[nodiscard]] Omitted<V> unless_empty(const V& of) {
  return of.empty() ? Omitted<V>{} : Omitted<V>{of};
}

// The first value of an enumeration that does not begin with 0.
template <class Enum>
inline constexpr Enum first_of = Enum{};
template <>
inline constexpr LogLevel first_of<LogLevel> = LogLevel::error;

template <class T>
struct Member;

template <class T>
struct Document {
  static const Document self;  // specialised for each struct that is a document

  std::string_view name;  // name in components/schemas; empty: the schema is inlined
  std::vector<Member<T>> members;
  std::string_view help{};
};

template <class V>
concept TextLike = std::convertible_to<V, std::string_view>;
template <class V>
concept OptionalLike = std::same_as<V, std::optional<typename V::value_type>>;
template <class V>
concept OmittedLike = std::same_as<V, Omitted<typename V::value_type>>;
template <class V>
concept ListLike = std::same_as<V, std::vector<typename V::value_type>>;

// A reference to the schema of this name. If `schemas` does not have it yet, `make` creates it.
[[nodiscard]] Json refer(Json& schemas, std::string_view name, const std::function<Json()>& make);

template <class V>
[[nodiscard]] Json schema_of(Json& schemas) {
  if constexpr (std::same_as<V, Json>) {
    return {};  // the member has a fixed schema
  } else if constexpr (TextLike<V>) {
    return text_schema();
  } else if constexpr (std::same_as<V, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::integral<V> || std::same_as<V, SeqNum> || std::same_as<V, Duration>) {
    return count_schema();
  } else if constexpr (std::is_enum_v<V>) {
    std::vector<std::string_view> names;
    for (const V each : enum_values(first_of<V>)) names.push_back(to_string(each));
    return one_of(names);
  } else if constexpr (std::same_as<V, UtcTime>) {
    return time_schema();
  } else if constexpr (OptionalLike<V>) {
    Json schema = schema_of<typename V::value_type>(schemas);
    if (schema.contains("$ref")) return either({std::move(schema), Json{{"type", "null"}}});
    schema["type"] = {schema["type"], "null"};
    return schema;
  } else if constexpr (OmittedLike<V>) {
    return schema_of<typename V::value_type>(schemas);
  } else if constexpr (ListLike<V>) {
    return list_schema(schema_of<typename V::value_type>(schemas));
  } else {
    const Document<V>& of = Document<V>::self;
    const auto make = [&] {
      Json required = Json::array(), properties = Json::object();
      for (const Member<V>& each : of.members) {
        properties[each.name] = with_help(each.schema(schemas), each.help);
        if (!each.is_omitted) required.push_back(each.name);
      }
      Json schema = with_help({{"type", "object"}}, of.help);
      if (!required.empty()) schema["required"] = std::move(required);
      schema["additionalProperties"] = false;
      schema["properties"] = std::move(properties);
      return schema;
    };
    return of.name.empty() ? make() : refer(schemas, of.name, make);
  }
}

template <class V>
[[nodiscard]] Json json_of(const V& of) {
  if constexpr (TextLike<V>) {
    return std::string_view{of};
  } else if constexpr (std::integral<V> || std::same_as<V, Json>) {
    return of;
  } else if constexpr (std::same_as<V, SeqNum>) {
    return value(of);
  } else if constexpr (std::same_as<V, Duration>) {
    return of.count();
  } else if constexpr (std::is_enum_v<V>) {
    return to_string(of);
  } else if constexpr (std::same_as<V, UtcTime>) {
    return time_text(of);
  } else if constexpr (OptionalLike<V> || OmittedLike<V>) {
    return of ? json_of(*of) : Json{};
  } else if constexpr (ListLike<V>) {
    Json all = Json::array();
    for (const auto& each : of) all.push_back(json_of(each));
    return all;
  } else {
    Json all = Json::object();
    for (const Member<V>& each : Document<V>::self.members) {
      Json json = each.value(of);
      if (!each.is_omitted || !json.is_null()) all[each.name] = std::move(json);
    }
    return all;
  }
}

// `get` is a member of T, or a function of a T. The schema follows from its type unless a `fixed` one is given.
template <class T>
struct Member {
  template <class Get, class Value = std::remove_cvref_t<std::invoke_result_t<Get, const T&>>>
  Member(std::string name_given, Get get, std::string_view help_given = {}, Json fixed = nullptr)
      : name(std::move(name_given)), help(help_given), is_omitted(OmittedLike<Value>) {
    schema = [fixed = std::move(fixed)](Json& schemas) { return fixed.is_null() ? schema_of<Value>(schemas) : fixed; };
    value = [get](const T& of) { return json_of<Value>(std::invoke(get, of)); };
  }
  // Makes a member of a part of T a member of T.
  template <class Part>
  Member(const Member<Part>& other, const Part& (*part)(const T&))
      : name(other.name), help(other.help), is_omitted(other.is_omitted), schema(other.schema) {
    value = [part, get = other.value](const T& of) { return get(part(of)); };
  }

  std::string name;
  std::string_view help;
  bool is_omitted = false;
  std::function<Json(Json& schemas)> schema;
  std::function<Json(const T&)> value;
};

// "messages_in_total": a metric without its prefix, plus the label that distinguishes counters of one metric.
[[nodiscard]] std::string counter_name(std::string_view metric, std::string_view label_value);

template <class Counters>
[[nodiscard]] Document<Counters> document_of_counters(std::string_view name = {}) {
  Document<Counters> made{name, {}};
  for (const auto& row : counter_rows<Counters>)
    made.members.emplace_back(counter_name(row.metric, row.label_value), row.member, row.help);
  return made;
}

template <class T>
[[nodiscard]] Answer answer_of(const T& of) {
  return {.body = text_of(json_of(of))};
}
template <class T>
[[nodiscard]] Success answers(std::string_view help, bool has_etag = false) {
  return {.help = help, .schema = schema_of<T>, .has_etag = has_etag};
}

// Documents of several routes.
struct Done {};

struct SessionResult {
  SessionStatus session;
  std::string_view result;  // "done" or "nothing_to_do"
};

struct ReloadPlan {
  ReloadReport report;  // a report of a reload that changed nothing
};

// RFC 9457.
struct Problem {
  unsigned status = 0;
  std::string_view kind;
  std::string_view detail;
  const SessionStatus* session = nullptr;  // null: no session
};

template <>
const Document<Done> Document<Done>::self;
template <>
const Document<SessionStatus> Document<SessionStatus>::self;
template <>
const Document<SessionResult> Document<SessionResult>::self;
template <>
const Document<ReloadReport> Document<ReloadReport>::self;
template <>
const Document<ReloadPlan> Document<ReloadPlan>::self;
template <>
const Document<Problem> Document<Problem>::self;

// Whether a later request with this refusal may succeed.
[[nodiscard]] bool passes(unsigned status) noexcept;

// The report of a reload, or the reason why there was none.
[[nodiscard]] Answer answer_of(const ReloadReport& report);
[[nodiscard]] Outcome outcome_of(const ReloadReport& report);

// The session after a command, with its ETag. Empty `result`: it was only read.
[[nodiscard]] Answer session_answer(const SessionStatus& session, std::string_view result = {});
// Why a command was not carried out.
[[nodiscard]] Answer refused(const CommandOutcome& outcome);
// "\"3.120.97.0\"": number, next in, next out and the number of settings changes, so that it changes with any of them.
[[nodiscard]] std::string etag_of(const SessionStatus& session);

}  // namespace nfx::control
