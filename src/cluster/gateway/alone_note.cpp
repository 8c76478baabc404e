// Writes, reads and removes the note of a session that continued without its cluster.
#include "gateway/alone_note.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "store/journal_store.hpp"

namespace nfx::gateway {
namespace {

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

}  // namespace nfx::gateway
