// Which messages of a log are wanted: by session, type, field, time and text. All kinds that are given must match; of
// sessions and types one of those given.
// Thread: one owner. Cost: one pass over the fields of a message, before it is decoded. Errors: UsageError for a value
// that cannot be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"
#include "decode/decoder.hpp"
#include "decode/log_reader.hpp"
#include "decode/log_time.hpp"

namespace nfx::app {

// The number of a field that is given by number or name. UsageError, which names the option, if there is none.
[[nodiscard]] std::uint32_t tag_of(Dictionaries& dictionaries, const std::string& field, std::string_view option);

struct FilterOptions {
  std::vector<std::string> sessions, types, tags, texts;
  std::string from, to;

  [[nodiscard]] std::vector<cli::Option> options();
};

class MessageFilter {
 public:
  MessageFilter(const FilterOptions& options, Dictionaries& dictionaries);

  [[nodiscard]] Times needs_times() const noexcept { return from_ || to_ ? Times::yes : Times::no; }
  [[nodiscard]] bool empty() const noexcept { return empty_; }

  // Before it is decoded. Types given by name can only be compared afterwards.
  [[nodiscard]] bool may_want(const LogMessage& message) const;
  [[nodiscard]] bool wants(const DecodedMessage& message) const;

 private:
  struct Session {
    std::string first, second;  // second empty: any
  };
  struct Condition {
    std::uint32_t tag = 0;
    std::optional<std::string> value;
  };

  [[nodiscard]] bool has_text(const FoundMessage& message) const;
  [[nodiscard]] bool in_time(const std::optional<UtcTime>& time) const;
  [[nodiscard]] bool in_session(std::string_view sender, std::string_view target) const;

  std::vector<Session> sessions_;
  std::vector<std::string> types_;
  std::vector<Condition> conditions_;
  std::vector<std::string> texts_;
  std::optional<TypedTime> from_, to_;
  bool types_are_codes_ = true;
  bool empty_ = true;
};

}  // namespace nfx::app
