// Compares the fields of messages with the options.
#include "decode/filter.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>

#include "decode/fields.hpp"

namespace nfx::app {
namespace {

constexpr std::size_t longest_code = 2;  // of a type; a name is longer

std::optional<TypedTime> read_limit(const std::string& text, std::string_view option) {
  if (text.empty()) return std::nullopt;
  const auto time = read_typed_time(text);
  if (!time) {
    throw cli::UsageError(std::string{option} + ": " + text +
                          " is not a time; expected 2024-01-02T12:30:00, 20240102-12:30:00, 2024-01-02 or 12:30:00");
  }
  return time;
}

Duration time_of_day(UtcTime time) { return time - std::chrono::floor<std::chrono::days>(time); }

}  // namespace

std::uint32_t tag_of(Dictionaries& dictionaries, const std::string& field, std::string_view option) {
  std::uint32_t tag = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), tag);
  if (error == std::errc{} && end == field.data() + field.size()) return tag;
  tag = dictionaries.tag_named(field);
  if (tag == 0) throw cli::UsageError(std::string{option} + ": no field is named " + field + "; give its number");
  return tag;
}

std::vector<cli::Option> FilterOptions::options() {
  return {
      {.names = "--session",
       .target = &sessions,
       .help = "Only messages between these CompIDs in either direction, or from or to one CompID; repeatable",
       .value = "SENDER[->TARGET]"},
      {.names = "--type,--only",
       .target = &types,
       .help = "Only messages of these types, by code or name",
       .value = "TYPE[,TYPE]",
       .separator = ','},
      {.names = "--tag",
       .target = &tags,
       .help = "Only messages with this field, by number or name, or with this value of it; repeatable",
       .value = "TAG[=VALUE]"},
      {.names = "--from", .target = &from, .help = "Only messages at or after this time in UTC", .value = "TIME"},
      {.names = "--to",
       .target = &to,
       .help = "Only messages before this time in UTC; a time of day, such as 14:30, applies to every day",
       .value = "TIME"},
      {.names = "--text",
       .target = &texts,
       .help = "Only messages that contain this text, or whose line does before them; | stands for SOH; repeatable",
       .value = "TEXT"},
  };
}

MessageFilter::MessageFilter(const FilterOptions& options, Dictionaries& dictionaries)
    : types_(options.types),
      texts_(options.texts),
      from_(read_limit(options.from, "--from")),
      to_(read_limit(options.to, "--to")) {
  for (const std::string& each : options.sessions) {
    const std::size_t arrow = each.find("->");
    if (each.empty() || arrow == 0) throw cli::UsageError("--session: expected SENDER or SENDER->TARGET");
    sessions_.push_back({each.substr(0, arrow), arrow == std::string::npos ? std::string{} : each.substr(arrow + 2)});
  }
  for (const std::string& each : options.tags) {
    const std::size_t equals = each.find('=');
    Condition condition{.tag = tag_of(dictionaries, each.substr(0, equals), "--tag"), .value = {}};
    if (equals != std::string::npos) condition.value = each.substr(equals + 1);
    conditions_.push_back(std::move(condition));
  }
  if (conditions_.size() > 64) throw cli::UsageError("--tag: more than 64 fields");
  types_are_codes_ = std::ranges::all_of(types_, [](const std::string& type) { return type.size() <= longest_code; });
  empty_ = sessions_.empty() && types_.empty() && conditions_.empty() && texts_.empty() && !from_ && !to_;
}

bool MessageFilter::may_want(const LogMessage& message) const {
  if (empty_) return true;
  if (!in_time(message.time) || !has_text(message.found)) return false;
  if (sessions_.empty() && conditions_.empty() && (types_.empty() || !types_are_codes_)) return true;
  std::string_view type, sender, target;
  std::uint64_t met = 0;
  for_each_field(message.found.text, [&](std::uint32_t tag, std::string_view value) {
    if (tag == 35 && type.empty()) type = value;
    if (tag == 49 && sender.empty()) sender = value;
    if (tag == 56 && target.empty()) target = value;
    for (std::size_t i = 0; i < conditions_.size(); ++i) {
      if (conditions_[i].tag == tag && (!conditions_[i].value || *conditions_[i].value == value))
        met |= std::uint64_t{1} << i;
    }
    return true;
  });
  return static_cast<std::size_t>(std::popcount(met)) == conditions_.size() && in_session(sender, target) &&
         (types_.empty() || !types_are_codes_ || std::ranges::find(types_, type) != types_.end());
}

bool MessageFilter::wants(const DecodedMessage& message) const {
  return types_.empty() || types_are_codes_ || std::ranges::any_of(types_, [&](const std::string& type) {
           return type == message.msg_type || (!message.type_name.empty() && type == message.type_name);
         });
}

bool MessageFilter::has_text(const FoundMessage& message) const {
  return std::ranges::all_of(texts_, [&](const std::string& text) {
    if (message.text.contains(text) || message.prefix.contains(text)) return true;
    if (!text.contains('|')) return false;
    std::string with_soh = text;
    std::ranges::replace(with_soh, '|', '\x01');
    return message.text.contains(with_soh);
  });
}

bool MessageFilter::in_time(const std::optional<UtcTime>& time) const {
  if (!from_ && !to_) return true;
  if (!time) return false;
  const auto value_for = [&](const TypedTime& limit) {
    return limit.only_of_day ? UtcTime{time_of_day(*time)} : *time;
  };
  return (!from_ || value_for(*from_) >= from_->time) && (!to_ || value_for(*to_) < to_->time);
}

bool MessageFilter::in_session(std::string_view sender, std::string_view target) const {
  return sessions_.empty() || std::ranges::any_of(sessions_, [&](const Session& session) {
           const auto matches = [&](std::string_view one, std::string_view other) {
             return session.first == one && (session.second.empty() || session.second == other);
           };
           return matches(sender, target) || matches(target, sender);
         });
}

}  // namespace nfx::app
