// Reads a file of market data in any format of nfx market: events in the order of the file, and the names of its
// instruments. The first bytes show the format: DBN, or ITCH messages with lengths, either compressed with Zstandard or
// not.
// Thread: one owner. Cost: as the format's reader; a compare per event if instruments are selected. Errors: ConfigError
// for a wrong option or an instrument that the file lacks; std::runtime_error if the file cannot be opened. If the file
// is damaged or ends early, this is printed, and everything before has been read.
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
  std::string date;                      // for an ITCH file
  std::vector<std::string> instruments;  // by number or name; none: all
};
// The options FILE, --date and --instrument, followed by `more`.
[[nodiscard]] std::vector<cli::Option> with_file_options(FileOptions& options, std::vector<cli::Option> more);

class MarketFile {
 public:
  explicit MarketFile(const FileOptions& options);

  // Calls `sink(const Event&)` for each event of the selected instruments until it returns false, with a progress line.
  // A sink may have expect(), see DbnReader. Returns false if the file is damaged or ends early.
  template <class Sink>
  [[nodiscard]] bool for_each_event(Sink&& sink) {
    if (wanted_.empty()) return read_events(sink);
    return read_events([&](const nfx::market::Event& event) { return !is_chosen(event.instrument) || sink(event); });
  }

  // The same for all events, and `other(std::span<const std::byte>)` for each DBN record of the selected instruments
  // that gives no event. The caller shows both, so a file without events is not an error. Without `whole_market`,
  // events without an instrument are omitted.
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

  // The same without events that have no instrument, such as a status of the whole market.
  template <class Sink>
  [[nodiscard]] bool for_each_book_event(Sink&& sink) {
    if (!itch_ || !wanted_.empty()) return for_each_event(sink);
    return read_events([&](const nfx::market::Event& event) {
      return event.instrument == nfx::market::InstrumentId{} || sink(event);
    });
  }

  // Whether an order's number is used by only one instrument.
  [[nodiscard]] bool orders_unique() const noexcept { return itch_.has_value(); }
  // "DBN 2, GLBX.MDP3"; "ITCH 5.0, 8000 stocks". Requires that the part before the events was read.
  [[nodiscard]] std::string format() const;
  // Empty if no name is known yet. Valid until the next event.
  [[nodiscard]] std::string_view symbol(nfx::market::InstrumentId instrument) const;
  // All names known so far, with their instruments.
  [[nodiscard]] std::map<std::string, nfx::market::InstrumentId, std::less<>> symbols() const;
  // Midnight in New York of the file's day; empty if it is not an ITCH file.
  [[nodiscard]] std::optional<UtcTime> midnight() const noexcept;

  struct Count {
    std::string_view name;
    std::uint64_t count;
  };
  // Whether any record read so far gives an event.
  [[nodiscard]] bool has_events() const noexcept {
    return itch_ || dbn_.records(nfx::market::DbnReader::by_order) != 0;
  }
  [[nodiscard]] bool is_itch() const noexcept { return itch_.has_value(); }
  // Records that give no event, by type.
  [[nodiscard]] std::vector<Count> left_out() const;
  // Number of records with an action or type that their format does not define. They change no book.
  [[nodiscard]] std::uint64_t undefined_records() const noexcept;

 private:
  // An instrument selected by the options.
  struct Wanted {
    std::string name;
    std::optional<std::uint32_t> number;  // its number, if the name is one
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
  // Throws ConfigError for a name that no instrument has, and with `numbers` for a number that no event had.
  void check_wanted(bool numbers) const;

  std::string path_;
  std::vector<Wanted> wanted_;
  ByteInput input_;
  std::vector<std::byte> head_;  // the bytes used to detect the format
  nfx::market::DbnReader dbn_;
  std::optional<nfx::market::ItchFileReader> itch_;  // if it is an ITCH file
  UtcTime midnight_{};
  std::optional<nfx::market::InstrumentId> last_;
  bool last_chosen_ = false;
  bool wants_events_ = true;
  std::unordered_map<std::uint32_t, bool> chosen_;                     // for DBN, whose names are in a list
  mutable std::unordered_map<std::uint32_t, std::string_view> names_;  // for DBN, created at first use
};

}  // namespace nfx::app::market
