// The stream's contents of a session, and their comparison with its journal: the journal gets records that only the
// stream has, and gives up records that were never released.
// Thread: one at a time. Cost: a copy of the messages since the last reset that are not in the journal, the newest
// `most` of them; compare() and follow() read and write the journal. Errors: StoreError if the journal takes no
// records, JournalChanged if it is another journal than before.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/frame.hpp"
#include "nexusfix/base/time.hpp"
#include "store/journal_store.hpp"

namespace nfx::gateway {

// When the sequence numbers of a session began, as a record `began` has it.
using BeganBytes = std::array<char, sizeof(std::int64_t)>;

[[nodiscard]] inline BeganBytes began_bytes(UtcTime began) noexcept {
  return std::bit_cast<BeganBytes>(std::int64_t{began.time_since_epoch().count()});
}
[[nodiscard]] inline UtcTime time_of(std::string_view bytes) noexcept {
  std::int64_t ns = 0;
  std::memcpy(&ns, bytes.data(), sizeof ns);
  return UtcTime{Duration{ns}};
}

struct Message {
  SeqNum seq{};
  std::string bytes;
};

// How a journal was left: it has all messages before `end` of the sequence numbers that began then.
struct JournalMark {
  UtcTime began{};
  SeqNum end{};
};

// The journal was changed meanwhile: all frames have to be read again.
class JournalChanged : public StoreError {
 public:
  using StoreError::StoreError;
};

// For an operator.
[[nodiscard]] std::string given_up_text(std::uint64_t messages);

// The records of a session since its sequence numbers began.
struct Recovered {
  explicit Recovered(std::size_t most_messages = std::size_t{1} << 20) : most(most_messages) {}
  // After an ownership of this gateway: what is stored is in the journal, which may have more.
  Recovered(std::size_t most_messages, const cluster::Counters& stored, UtcTime its_begin)
      : most(most_messages),
        counters(stored),
        recorded(stored),
        began(its_begin),
        first(stored.outbound),
        journal(JournalMark{.began = its_begin, .end = stored.outbound}) {}

  // The next frame of the replay.
  void add(const cluster::FrameView& frame);
  // Nothing of the session was ever stored: an owner's first frame with records has the time when its sequence numbers
  // began. Its counters are the reserved ones of earlier owners.
  [[nodiscard]] bool is_new() const noexcept { return !began; }

  std::size_t most;
  cluster::Counters counters;
  cluster::Counters recorded;          // after the last record; numbers from there on are only reserved
  std::optional<UtcTime> began;        // the last that is stored of a journal's records
  std::deque<Message> messages;        // sent, by number
  SeqNum first = first_seq_num;        // the messages are complete from this number on; earlier ones may not be stored
  std::optional<JournalMark> journal;  // which has the messages before `first`
  std::uint64_t frames = 0;
  bool whole = false;           // from the session's very first frame on
  std::vector<UtcTime> begins;  // all that were read
  // Whether the stream had nothing of sequence numbers that began then, at any time.
  [[nodiscard]] bool never_had(UtcTime its_begin) const noexcept {
    return whole && std::ranges::find(begins, its_begin) == begins.end();
  }
};

// A journal with records that the stream never had any of; it was archived because the stream has other sequence
// numbers.
struct NeverStored {
  cluster::Counters counters;
  std::filesystem::path folder;
  [[nodiscard]] std::string text() const;  // for an operator, with the remedy
};

// A note in the folder of a journal: its session continued with the journal alone, because the cluster did not answer.
// Later records of the journal were sent, although the stream does not have them. Cost: a file and two syncs. Errors:
// write() throws StoreError; a note that cannot be read has no effect.
struct AloneNote {
  UtcTime began{};             // the sequence numbers of that time
  cluster::Counters counters;  // the stream has at most these from this gateway
  friend bool operator==(const AloneNote&, const AloneNote&) = default;

  // Durable when it returns.
  static void write(Disk& disk, const std::filesystem::path& folder, const AloneNote& note);
  [[nodiscard]] static std::optional<AloneNote> read(Disk& disk, const std::filesystem::path& folder);
  // No error: a note that remains has no effect on a journal whose records the stream has.
  static void remove(Disk& disk, const std::filesystem::path& folder) noexcept;
};

// Records that a journal has and the stream lacks: one frame, so that no owner has the messages without the counters.
// It has the newest messages that fit the frame. An owner with another journal answers numbers without a message with a
// gap fill.
struct Upload {
  bool resets = false;  // what the stream has is of no use: it was never released
  std::deque<Message> messages;
  std::uint64_t left_out = 0;  // messages, which stay in this journal
  cluster::Counters counters;  // after it
  std::optional<UtcTime> began;
  // There is more than the time of the beginning.
  [[nodiscard]] bool has_records() const noexcept { return counters != cluster::Counters{} || !messages.empty(); }
};

// Limits of an upload: the bytes of its messages as records, and their number.
struct UploadLimits {
  std::size_t bytes = SIZE_MAX;
  std::size_t messages = SIZE_MAX;
};

struct Comparison {
  std::uint64_t taken = 0;       // messages that the journal got from the stream
  std::uint64_t given_up = 0;    // messages of the journal that the stream has not, or has others for
  bool other_numbers = false;    // the journal's sequence numbers were others
  bool other_session = false;    // the journal was of numbers that began at another time
  std::optional<Upload> upload;  // what the stream gets before anything else
  bool alone = false;            // ... which was sent without the cluster
  cluster::Counters journal;     // before the change
  std::optional<NeverStored> archived;
  [[nodiscard]] std::string text() const;  // for an operator; empty: they are the same
};

// Makes the journal continue what the stream has. Where the session continued without the cluster (AloneNote), and no
// other owner has used its sequence numbers since, the stream gets the rest of the journal. Its next outbound number
// never goes back: numbers of the journal that the stream does not have are not used for other messages.
[[nodiscard]] Comparison compare(JournalStore& journal, const Recovered& stream, UtcTime now,
                                 const UploadLimits& limits = {});

// Moves the messages to the journal while another gateway owns the session. The stream may have more messages than were
// read so far. So the journal gives up messages only from a number on for which the stream has another one, or none.
// Nothing: the journal has later sequence numbers, and nothing was moved.
struct Followed {
  std::uint64_t given_up = 0;
  std::optional<NeverStored> archived;
};
[[nodiscard]] std::optional<Followed> follow(JournalStore& journal, Recovered& stream, UtcTime now);

}  // namespace nfx::gateway
