// Opens the dictionaries and logs given to the dict commands.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::app {

// The file itself, or the shipped dictionary with that name ("FIX44.xml") or version ("FIX.4.4").
[[nodiscard]] std::filesystem::path dictionary_path(const std::string& name);

// Counts of the readable and unreadable parts of a log.
struct LogCount {
  std::uint64_t messages = 0;
  std::uint64_t corrected = 0;  // how many had a wrong BodyLength or CheckSum, as in logs with masked values
  std::uint64_t unreadable = 0;
};

// Calls `visit` with each whole message of the log, even if its BodyLength or CheckSum is wrong; - is standard input.
// Holds one message at a time. `doing` is for the progress line: "reading venue.log".
LogCount for_each_message(const std::string& log, std::string_view doing,
                          const std::function<void(const MessageView&)>& visit);

}  // namespace nfx::app
