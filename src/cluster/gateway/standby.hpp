// The journal of a session that another gateway owns. It gets what the stream has, so that a takeover has little to
// read and to write.
// Thread: that of the opener, but for the constructor. Cost: the journal is open; a batch is one write and one sync.
// Errors: a text, and the journal is closed.
#pragma once

#include <algorithm>
#include <exception>
#include <optional>
#include <string>

#include "gateway/recovered.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "store/journal_reader.hpp"
#include "store/journal_store.hpp"

namespace nfx::gateway {

struct Written {
  Followed followed;
  std::string error;     // empty: none
  bool changed = false;  // the error: the journal is not as it was left, so all frames have to be read again
};

class Standby {
 public:
  explicit Standby(const SessionSettings& settings) : settings_(settings) {}

  // Moves the messages to the journal, or leaves them in `stream`.
  [[nodiscard]] Written write(Recovered& stream, UtcTime now) {
    try {
      if (!journal_) {
        JournalOptions options = settings_.journal;
        options.durability = Durability::interval;
        journal_.emplace(posix_disk(), options, identity(settings_.session), now);
      }
      return {.followed = follow(*journal_, stream, now).value_or(Followed{}), .error = {}};
    } catch (const std::exception& failure) {
      close();
      return {
          .followed = {}, .error = failure.what(), .changed = dynamic_cast<const JournalChanged*>(&failure) != nullptr};
    }
  }
  // Whether there is a journal already.
  [[nodiscard]] bool exists() const {
    const auto names =
        posix_disk().list(find_session_folder(posix_disk(), settings_.journal.directory, identity(settings_.session)));
    return names && std::ranges::any_of(*names, [](const std::string& name) { return name.ends_with(".nfxj"); });
  }
  // A session may open the journal.
  void close() noexcept { journal_.reset(); }

 private:
  const SessionSettings& settings_;
  std::optional<JournalStore> journal_;
};

}  // namespace nfx::gateway
