// A file of market data of any format that nfx market reads: events in the order of the file, and the names of its
// instruments. The format is recognised by the first bytes: DBN, or ITCH messages with lengths, either compressed with
// Zstandard or not.
// Thread: one owner. Cost: as the format's reader; a compare per event where instruments are chosen. Errors:
// ConfigError for a wrong option or an instrument that the file does not have; std::runtime_error for what cannot be
// opened; a file that is damaged or ends early is printed, and what precedes has been read.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/command_line.hpp"
#include "market/byte_input.hpp"
#include "nexusfix/market/dbn.hpp"
#include "nexusfix/market/itch_parser.hpp"

namespace nfx::app::market {

struct FileOptions {
  std::string path;
  std::string date;                      // of an ITCH file
  std::vector<std::string> instruments;  // by number or name; none: all
};
// FILE, --date and --instrument, then these.
[[nodiscard]] std::vector<cli::Option> with_file_options(FileOptions& options, std::vector<cli::Option> more);

class MarketFile {
 public:
  explicit MarketFile(const FileOptions& options);

  // Calls `sink(const Event&)` for each event of the chosen instruments until it returns false, with a line of
  // progress. A sink may have expect(), see DbnReader. False: the file is damaged or ends early.
  template <class Sink>
  [[nodiscard]] bool for_each_event(Sink&& sink) {
    if (wanted_.empty()) return read_events(sink);
    return read_events([&](const nfx::market::Event& event) { return !is_chosen(event.instrument) || sink(event); });
  }

  // All of them, and `other(std::span<const std::byte>)` for each DBN record of the chosen instruments that gives no
  // event. Whoever calls this shows both: a file without any event is no failure. Without `whole_market`, events that
  // are of no instrument are left out.
  template <class Sink, class Other>
  [[nodiscard]] bool for_each_record(bool whole_market, Sink&& sink, Other&& other) {
    wants_events_ = false;
    struct Both {
      MarketFile& file;
      const bool whole_market;
      Sink& sink_event;
      Other& sink_other;
      bool operator()(const nfx::market::Event& event) {
        if (!file.wanted_.empty()) return !file.is_chosen(event.instrument) || sink_event(event);
        const bool of_none = file.itch_ && event.instrument == nfx::market::InstrumentId{};
        return (of_none && !whole_market) || sink_event(event);
      }
      void other(std::span<const std::byte> record) {
        std::uint32_t instrument = 0;
        std::memcpy(&instrument, record.data() + 4, sizeof instrument);
        if (file.wanted_.empty() || file.is_chosen(nfx::market::InstrumentId{instrument})) sink_other(record);
      }
    };
    return read_events(Both{*this, whole_market, sink, other});
  }

  // The same without those that are of no instrument, as a status of the whole market is.
  template <class Sink>
  [[nodiscard]] bool for_each_book_event(Sink&& sink) {
    if (!itch_ || !wanted_.empty()) return for_each_event(sink);
    return read_events([&](const nfx::market::Event& event) {
      return event.instrument == nfx::market::InstrumentId{} || sink(event);
    });
  }

  // An order's number is used by one instrument alone.
  [[nodiscard]] bool orders_unique() const noexcept { return itch_.has_value(); }
  // "DBN 2, GLBX.MDP3"; "ITCH 5.0, 8000 stocks". What precedes the events has to be read.
  [[nodiscard]] std::string format() const;
  // Empty: it has none that is known so far. Valid until the next event.
  [[nodiscard]] std::string_view symbol(nfx::market::InstrumentId instrument) const;
  // All names and the instrument of each, as far as they are known.
  [[nodiscard]] std::map<std::string, nfx::market::InstrumentId, std::less<>> symbols() const;
  // Midnight in New York of the file's day; empty: not an ITCH file.
  [[nodiscard]] std::optional<UtcTime> midnight() const noexcept;

  struct Count {
    std::string_view name;
    std::uint64_t count;
  };
  // Whether the file has any record that gives an event, of those that were read.
  [[nodiscard]] bool has_events() const noexcept {
    return itch_ || dbn_.records(nfx::market::DbnReader::by_order) != 0;
  }
  [[nodiscard]] bool is_itch() const noexcept { return itch_.has_value(); }
  // Records that give no event, by type.
  [[nodiscard]] std::vector<Count> left_out() const;
  // Records that state what their format does not define: of an unknown action or type. They change no book.
  [[nodiscard]] std::uint64_t undefined_records() const noexcept;

 private:
  // An instrument that the options want.
  struct Wanted {
    std::string name;
    std::optional<std::uint32_t> number;  // what the name is, if it is one
    bool found = false;
  };

  template <class Sink>
  bool read_events(Sink&& sink) {
    return read(
        [&](std::span<const std::byte> chunk) { return itch_ ? itch_->read(chunk, sink) : dbn_.read(chunk, sink); });
  }
  bool read(const std::function<bool(std::span<const std::byte>)>& read_chunk);
  bool finish(const std::string& problem, bool stopped);

  [[nodiscard]] bool is_chosen(nfx::market::InstrumentId instrument) {
    if (instrument != last_) {
      last_ = instrument;
      last_chosen_ = choose(instrument);
    }
    return last_chosen_;
  }
  [[nodiscard]] bool choose(nfx::market::InstrumentId instrument);
  [[nodiscard]] bool has_name(nfx::market::InstrumentId instrument, std::string_view name) const;
  // Throws ConfigError for a name that no instrument has, and for a number that no event had if `numbers`.
  void check_wanted(bool numbers) const;

  std::string path_;
  std::vector<Wanted> wanted_;
  ByteInput input_;
  std::vector<std::byte> head_;  // the bytes by which the format was recognised
  nfx::market::DbnReader dbn_;
  std::optional<nfx::market::ItchFileReader> itch_;  // it is one
  UtcTime midnight_{};
  std::optional<nfx::market::InstrumentId> last_;
  bool last_chosen_ = false;
  bool wants_events_ = true;
  std::unordered_map<std::uint32_t, bool> chosen_;                     // of DBN, whose names are in a list
  mutable std::unordered_map<std::uint32_t, std::string_view> names_;  // of DBN, made when it is first used
};

}  // namespace nfx::app::market
