// Extracts the messages and first snapshots of a recorded websocket feed, to publish them again.
// Thread: one owner. Cost: reads the recording once; memory for at most `most` messages. Errors: ConfigError for a
// recording of another feed, StoreError for one that cannot be read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nfx::app::market {

struct RecordedMessages {
  struct Message {
    std::string symbol;
    std::string text;  // without the stream's name
  };
  std::vector<Message> messages;
  std::map<std::string, std::string> snapshots;  // by symbol
  std::vector<std::string> names;
};

[[nodiscard]] RecordedMessages read_messages(const std::string& folder, const std::string& ring_directory,
                                             std::uint64_t most);

}  // namespace nfx::app::market
