// Dictionaries and logs as the dict commands take them.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::app {

// The file itself, or the shipped dictionary of that name ("FIX44.xml"), or of that version ("FIX.4.4").
[[nodiscard]] std::filesystem::path dictionary_path(const std::string& name);

// How much of a log could be read.
struct LogCount {
  std::uint64_t messages = 0;
  std::uint64_t corrected = 0;  // of these: BodyLength or CheckSum was wrong, as in logs that mask or shorten values
  std::uint64_t unreadable = 0;
};

// Calls `visit` with each message of the log that is whole, also when its BodyLength or CheckSum is wrong; - is
// standard input. Holds one message at a time. `doing` is the progress line's: "reading venue.log".
LogCount for_each_message(const std::string& log, std::string_view doing,
                          const std::function<void(const MessageView&)>& visit);

}  // namespace nfx::app
