// Compares a journal with the stream, and completes it.
#include "gateway/recovered.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string_view>

#include "nexusfix/base/assert.hpp"

namespace nfx::gateway {
namespace {

constexpr std::string_view reason = "taken from the cluster";

// Without a flusher the journal writes what it has when its ring is full.
void require(bool recorded, const JournalStore& journal) {
  if (!recorded)
    throw StoreError("cannot store the records of the cluster in the journal: " + journal.condition_text());
}

void append(JournalStore& journal, const Message& message, UtcTime now) {
  if (journal.append(message.seq, message.bytes, now)) return;
  require(journal.sync(now) && journal.append(message.seq, message.bytes, now), journal);
}

void set(JournalStore& journal, bool inbound, SeqNum seq, UtcTime now) {
  const NumberChange change{.inbound = inbound, .seq = seq, .reason = reason};
  if (journal.set_number(change, now)) return;
  require(journal.sync(now) && journal.set_number(change, now), journal);
}

// The journal's contents from this number on.
Upload upload_of(const JournalStore& journal, SeqNum from, const UploadLimits& limits) {
  Upload all;
  all.counters = {.inbound = journal.next_inbound(), .outbound = journal.next_outbound()};
  if (journal.last_kept() < from) return all;
  std::size_t bytes = 0;
  static_cast<void>(journal.for_each(from, journal.last_kept(), [&](SeqNum seq, std::string_view message) {
    all.messages.push_back({seq, std::string{message}});
    bytes += cluster::record_size(message.size());
    for (; bytes > limits.bytes || all.messages.size() > limits.messages; all.messages.pop_front(), ++all.left_out)
      bytes -= cluster::record_size(all.messages.front().bytes.size());
    return true;
  }));
  return all;
}

bool is_new(const JournalStore& journal) {
  return journal.next_inbound() == first_seq_num && journal.next_outbound() == first_seq_num &&
         journal.last_kept() == SeqNum{};
}

void require_as_left(const JournalStore& journal, const Recovered& stream) {
  if (!stream.journal) return;
  if (stream.journal->began != journal.creation_time() || stream.journal->end > journal.next_outbound())
    throw JournalChanged("the journal is not as this gateway left it: all of the cluster's records are read again");
}

// The journal's records are archived.
std::optional<NeverStored> begin_again(JournalStore& journal, const Recovered& stream) {
  std::optional<NeverStored> archived;
  if (!is_new(journal) && stream.never_had(journal.creation_time()))
    archived = {.counters = {.inbound = journal.next_inbound(), .outbound = journal.next_outbound()},
                .folder = journal.folder()};
  journal.reset(*stream.began);
  require(journal.creation_time() == *stream.began && journal.next_outbound() == first_seq_num, journal);
  return archived;
}

// The first number before `limit` for which journal and stream have different messages, or only one of them has a
// message. Messages that the journal has deleted are not missing.
SeqNum first_other(const JournalStore& journal, const Recovered& stream, SeqNum limit) {
  const auto end = stream.messages.end();
  auto at = std::ranges::lower_bound(stream.messages, journal.oldest_kept(), {}, &Message::seq);
  SeqNum other = limit;
  if (limit > stream.first) {
    static_cast<void>(journal.for_each(stream.first, SeqNum{value(limit) - 1}, [&](SeqNum seq, std::string_view bytes) {
      const bool same = at != end && at->seq == seq && at->bytes == bytes;
      same ? void(++at) : void(other = seq);
      return same;
    }));
  }
  return at != end ? std::min(other, at->seq) : other;
}

// Messages that were sent without the cluster. Nothing: the stream has them, or another owner has continued otherwise.
std::optional<Upload> sent_alone(JournalStore& journal, const Recovered& stream, UtcTime now,
                                 const UploadLimits& limits) {
  const auto note = AloneNote::read(posix_disk(), journal.folder());
  if (!note || note->began != *stream.began) return std::nullopt;
  if (journal.creation_time() > *stream.began) {
    // It has reset its sequence numbers since.
    if (stream.recorded.inbound > note->counters.inbound || stream.recorded.outbound > note->counters.outbound)
      return std::nullopt;
    Upload all = upload_of(journal, first_seq_num, limits);
    all.resets = true;
    all.began = journal.creation_time();
    return all;
  }
  const SeqNum end = stream.recorded.outbound;
  if (journal.creation_time() < *stream.began || journal.next_inbound() < stream.counters.inbound ||
      journal.next_outbound() < end || first_other(journal, stream, end) < end)
    return std::nullopt;
  if (journal.next_inbound() == stream.counters.inbound && journal.next_outbound() == end) return std::nullopt;
  if (journal.next_outbound() < stream.counters.outbound) set(journal, false, stream.counters.outbound, now);
  return upload_of(journal, stream.counters.outbound, limits);
}

// The journal's messages from this number on are not sent.
std::uint64_t give_up(JournalStore& journal, SeqNum from, UtcTime now) {
  if (journal.last_kept() < from) return 0;
  const auto count = journal.for_each(from, journal.last_kept(), [](SeqNum, std::string_view) { return true; });
  set(journal, false, from, now);
  return count;
}

std::uint64_t take(JournalStore& journal, const Recovered& stream, SeqNum from, UtcTime now) {
  const auto begin = std::ranges::lower_bound(stream.messages, from, {}, &Message::seq);
  for (auto at = begin; at != stream.messages.end(); ++at) {
    append(journal, *at, now);
    journal.set_next_outbound(next(at->seq), now);
  }
  return static_cast<std::uint64_t>(stream.messages.end() - begin);
}

std::string counted(std::uint64_t messages) {
  return std::to_string(messages) + (messages == 1 ? " message " : " messages ");
}

constexpr std::string_view note_file = "alone", half_written = "alone.part";
constexpr std::size_t note_size_max = 256;

template <class T>
T value_or_throw(DiskResult<T> result) {
  if (!result) throw StoreError(result.error().text());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

// The number after this word.
template <class Number>
bool take_value(std::string_view text, std::string_view word, Number& number) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return false;
  const char* const end = text.data() + text.size();
  return std::from_chars(text.data() + at + word.size(), end, number).ec == std::errc{};
}

}  // namespace

void AloneNote::write(Disk& disk, const std::filesystem::path& folder, const AloneNote& note) {
  const std::string text =
      "continued without the cluster: began=" + std::to_string(note.began.time_since_epoch().count()) +
      " inbound=" + std::to_string(value(note.counters.inbound)) +
      " outbound=" + std::to_string(value(note.counters.outbound)) + "\n";
  if (disk.exists(folder / half_written)) value_or_throw(disk.remove(folder / half_written));
  const auto file = value_or_throw(disk.open(folder / half_written, OpenMode::create));
  value_or_throw(file->write(0, std::span{text}));
  value_or_throw(file->sync());
  value_or_throw(disk.rename(folder / half_written, folder / note_file));
  value_or_throw(disk.sync_folder(folder));
}

std::optional<AloneNote> AloneNote::read(Disk& disk, const std::filesystem::path& folder) {
  if (!disk.exists(folder / note_file)) return std::nullopt;
  const auto file = disk.open(folder / note_file, OpenMode::read);
  if (!file) return std::nullopt;
  std::array<char, note_size_max> bytes{};
  const auto size = (*file)->read(0, bytes);
  if (!size) return std::nullopt;
  const std::string_view text{bytes.data(), *size};
  std::int64_t began = 0;
  std::uint64_t inbound = 0, outbound = 0;
  if (!take_value(text, "began=", began) || !take_value(text, "inbound=", inbound) ||
      !take_value(text, "outbound=", outbound))
    return std::nullopt;
  return AloneNote{.began = UtcTime{Duration{began}},
                   .counters = {.inbound = SeqNum{inbound}, .outbound = SeqNum{outbound}}};
}

void AloneNote::remove(Disk& disk, const std::filesystem::path& folder) noexcept {
  if (!disk.exists(folder / note_file)) return;
  static_cast<void>(disk.remove(folder / note_file));
  static_cast<void>(disk.sync_folder(folder));
}

std::string NeverStored::text() const {
  return "the journal in " + folder.string() + " has next in " + std::to_string(value(counters.inbound)) +
         ", next out " + std::to_string(value(counters.outbound)) +
         ", and the cluster never had any of it: the session began again at another gateway, and the journal is "
         "archived. "
         "Compare the sequence numbers with the counterparty's, and set them with 'nfx session set' at the gateway "
         "that "
         "owns the session; start the gateway that has a session's journal first";
}

std::string given_up_text(std::uint64_t messages) {
  return counted(messages) + "of the journal were not in the cluster and are not sent";
}

void Recovered::add(const cluster::FrameView& frame) {
  ++frames;
  whole = whole || frame.header.number == cluster::FrameNumber{1};
  counters = {.inbound = frame.header.first_inbound, .outbound = frame.header.first_outbound};
  for (std::string_view rest = frame.records; !rest.empty();) {
    const cluster::Record record = cluster::take_record(rest);
    const bool follows = advance(counters, record);
    NFX_REQUIRE(follows);
    switch (record.kind) {
      case cluster::RecordKind::inbound: break;
      case cluster::RecordKind::outbound:
        if (record.bytes.empty()) break;
        messages.push_back({record.seq, std::string{record.bytes}});
        if (messages.size() > most) {
          first = next(messages.front().seq);
          messages.pop_front();
        }
        break;
      case cluster::RecordKind::reset:
        messages.clear();
        first = first_seq_num;
        journal.reset();
        began.reset();
        break;
      case cluster::RecordKind::began:
        began = time_of(record.bytes);
        begins.push_back(*began);
        // The number after the messages of an upload, which may lack messages that do not fit its frame.
        first = messages.empty() ? counters.outbound : messages.front().seq;
        break;
    }
    recorded = counters;
  }
}

std::string Comparison::text() const {
  if (upload) {
    if (!upload->has_records()) return {};
    std::string uploaded = alone ? "the cluster gets " + counted(upload->messages.size()) +
                                       "and both sequence numbers of the time without it"
                                 : "the cluster had nothing of the session and gets the journal's records";
    if (upload->left_out != 0)
      uploaded += ", but for " + counted(upload->left_out) + "before them, which are only in this journal";
    return uploaded;
  }
  if (other_session) return "the journal was of an earlier session; it has the cluster's records now";
  std::string text;
  if (taken != 0) text = counted(taken) + "of the cluster were missing in the journal";
  if (given_up != 0) text += (text.empty() ? "" : ", ") + given_up_text(given_up);
  if (!other_numbers) return text;
  text += (text.empty() ? "" : "; ") + std::string{"the journal had next in "} +
          std::to_string(value(journal.inbound)) + ", next out " + std::to_string(value(journal.outbound));
  return text;
}

Comparison compare(JournalStore& journal, const Recovered& stream, UtcTime now, const UploadLimits& limits) {
  require_as_left(journal, stream);
  Comparison found;
  found.journal = {.inbound = journal.next_inbound(), .outbound = journal.next_outbound()};
  if (stream.is_new()) {
    found.upload = upload_of(journal, first_seq_num, limits);
    found.upload->resets = stream.counters != cluster::Counters{};
    found.upload->began = journal.creation_time();
    return found;
  }
  found.upload = sent_alone(journal, stream, now, limits);
  found.alone = found.upload.has_value();
  if (found.alone) return found;
  found.other_numbers = found.journal != stream.counters;
  found.other_session = *stream.began != journal.creation_time();
  if (found.other_session) found.archived = begin_again(journal, stream);
  const SeqNum other = first_other(journal, stream, stream.counters.outbound);
  const SeqNum next_out = std::max(stream.counters.outbound, journal.next_outbound());
  found.given_up = give_up(journal, other, now);
  found.taken = take(journal, stream, other, now);
  if (journal.next_outbound() != next_out) set(journal, false, next_out, now);
  if (journal.next_inbound() != stream.counters.inbound) set(journal, true, stream.counters.inbound, now);
  // The session begins with an empty ring.
  if (found.taken != 0) require(journal.sync(now), journal);
  return found;
}

std::optional<Followed> follow(JournalStore& journal, Recovered& stream, UtcTime now) {
  require_as_left(journal, stream);
  if (!stream.began) return std::nullopt;
  if (!is_new(journal) && journal.creation_time() > *stream.began) return std::nullopt;
  Followed followed;
  if (journal.creation_time() != *stream.began) followed.archived = begin_again(journal, stream);
  const SeqNum next_out = std::max(stream.counters.outbound, journal.next_outbound());
  const SeqNum other = first_other(journal, stream, stream.counters.outbound);
  followed.given_up = other < stream.counters.outbound ? give_up(journal, other, now) : 0;
  static_cast<void>(take(journal, stream, other, now));
  if (journal.next_outbound() != next_out) set(journal, false, next_out, now);
  if (journal.next_inbound() < stream.counters.inbound) set(journal, true, stream.counters.inbound, now);
  require(journal.sync(now), journal);
  stream.messages.clear();
  stream.first = stream.counters.outbound;
  stream.journal = JournalMark{.began = *stream.began, .end = stream.counters.outbound};
  return followed;
}

}  // namespace nfx::gateway
