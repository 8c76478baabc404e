// A session that continues with its journal alone while the cluster does not answer, as when_lost has it; and the note
// of that in the journal's folder, until the cluster has all of it.
// Thread: the gateway's; the opener writes and removes the note. Bounds: one job of the opener at a time. Lifetime:
// until the opener has ended.
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "gateway/alone_note.hpp"
#include "gateway/opener.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/time.hpp"
#include "store/disk.hpp"

namespace nfx::gateway {

class Alone {
 public:
  using Noted = std::function<void(const std::string& error, MonotonicTime now)>;

  Alone() = default;
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

  // A new ownership, whose journal is not open yet.
  void reset() noexcept { continues_ = has_note_ = false; }
  // The journal is open, in this folder.
  void open(std::filesystem::path folder, bool has_note) {
    folder_ = std::move(folder);
    has_note_ = has_note;
  }

  [[nodiscard]] bool continues() const noexcept { return continues_; }
  [[nodiscard]] bool is_busy() const noexcept { return busy_; }  // with the note

  // Nothing is sent without the cluster before a later start of this gateway would know of it: begin() is called by
  // `noted`, where the error is empty.
  void note(Opener& opener, const AloneNote& note, Noted noted) {
    NFX_ASSERT(!busy_);
    busy_ = true;
    const auto error = std::make_shared<std::string>();
    opener.add(
        [this, note, error] {
          try {
            AloneNote::write(posix_disk(), folder_, note);
          } catch (const std::exception& failure) {
            *error = failure.what();
          }
        },
        [this, error, noted = std::move(noted)](MonotonicTime now) {
          busy_ = false;
          noted(*error, now);
        });
  }
  void begin() noexcept { continues_ = has_note_ = true; }
  // The cluster answers. Whether it did not before.
  [[nodiscard]] bool end() noexcept { return std::exchange(continues_, false); }
  // The cluster has all of it: the note, if there is one, is removed.
  void forget(Opener& opener) {
    if (!has_note_ || busy_) return;
    busy_ = true;
    opener.add([this] { AloneNote::remove(posix_disk(), folder_); },
               [this](MonotonicTime) { busy_ = has_note_ = false; });
  }

 private:
  std::filesystem::path folder_;  // of the journal
  bool continues_ = false;
  bool has_note_ = false;
  bool busy_ = false;
};

}  // namespace nfx::gateway
