// nfx market book: the order books at the end of a recording, or at a time in it.
#include <optional>
#include <vector>

#include "command.hpp"
#include "market/book_replay.hpp"
#include "market/market.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "text.hpp"

namespace nfx::app::market {
namespace {

using nfx::market::InstrumentId;
using nfx::market::InstrumentIndex;
using nfx::market::Level;
using nfx::market::OrderBook;
using nfx::market::Side;

struct BookOptions {
  std::string file;
  bool json = false;
  std::string at;
  std::uint32_t depth = 10;
  std::optional<std::uint32_t> instrument;
};

std::vector<Level> best_levels(const OrderBook& book, Side side, std::uint32_t depth) {
  std::vector<Level> levels(std::min(depth, book.level_count(side)));
  levels.resize(book.levels(side, levels));
  return levels;
}

void append_json_side(SafeText& out, const std::vector<Level>& levels) {
  out += '[';
  for (const Level& level : levels) {
    if (&level != levels.data()) out += ", ";
    out.add("{\"price\": \"{}\", \"size\": {}, \"orders\": {}}", floored_price(level.price), level.quantity,
            level.orders);
  }
  out += ']';
}

void print_json(BookReplay& replay, std::uint32_t depth) {
  Output output;
  SafeText& out = output.text;
  out.add("{\"records\": {}, \"trades\": {}, \"traded_size\": {}, \"bbo_changes\": {}, \"bbo_sha256\": \"{}\",\n",
          replay.records(), replay.trades(), replay.traded(), replay.best_prices().changes(),
          replay.best_prices().sha256());
  out += " \"instruments\": {";
  for (std::uint32_t i = 0; i < replay.instruments().size(); ++i) {
    const OrderBook book = replay.books().book(InstrumentIndex{i});
    if (i != 0) out += ',';
    out.add("\n  \"{}\": {\"orders\": {}, \"levels\": [{}, {}],\n   \"bids\": ",
            std::to_underlying(replay.instruments().id(InstrumentIndex{i})), book.orders(), book.level_count(Side::bid),
            book.level_count(Side::ask));
    append_json_side(out, best_levels(book, Side::bid, depth));
    out += ",\n   \"asks\": ";
    append_json_side(out, best_levels(book, Side::ask, depth));
    out += '}';
    output.flush_when_large();
  }
  out += "}}\n";
  output.flush();
}

void append_padded(SafeText& out, const std::string& text, std::size_t width) {
  if (text.size() < width) out.append_spaces(width - text.size());
  out += text;
}

void append_book(SafeText& out, const BookReplay& replay, const OrderBook& book, std::uint32_t depth) {
  const auto bids = best_levels(book, Side::bid, depth), asks = best_levels(book, Side::ask, depth);
  out.add("  {} orders, {} bid and {} ask levels, {}{}, hash {}\n", book.orders(), book.level_count(Side::bid),
          book.level_count(Side::ask), to_string(book.state()), book.crossed() ? ", crossed" : "",
          std::to_string(book.hash()));
  (void)replay;
  if (bids.empty() && asks.empty()) return;
  constexpr std::size_t width = 12;
  const auto append_level = [&](const std::vector<Level>& levels, std::size_t i, bool bid) {
    std::vector<std::string> cells(3);
    if (i < levels.size()) {
      const Level& level = levels[i];
      cells = {std::to_string(level.orders), std::to_string(level.quantity), short_price(level.price)};
    }
    if (!bid) std::swap(cells[0], cells[2]);
    for (const std::string& cell : cells) append_padded(out, cell, width);
  };
  for (const std::string heading : {"orders", "size", "bid", "ask", "size", "orders"}) {
    append_padded(out, heading, width);
  }
  out += '\n';
  for (std::size_t i = 0; i < std::max(bids.size(), asks.size()); ++i) {
    append_level(bids, i, true);
    append_level(asks, i, false);
    out += '\n';
  }
}

void print_text(BookReplay& replay, const BookOptions& options) {
  Output output;
  SafeText& out = output.text;
  out.add("{}: {} records by order, {} trades of {}, {} changes of the best prices; the last record is of {}\n",
          options.file, replay.records(), replay.trades(), replay.traded(), replay.best_prices().changes(),
          time_text(replay.last_time()));
  for (std::uint32_t i = 0; i < replay.instruments().size(); ++i) {
    const InstrumentId id = replay.instruments().id(InstrumentIndex{i});
    const std::string symbol = symbol_of(replay.reader(), id);
    out.add("\ninstrument {}{}{}\n", std::to_underlying(id), symbol.empty() ? "" : " ", symbol);
    append_book(out, replay, replay.books().book(InstrumentIndex{i}), options.depth);
    output.flush_when_large();
  }
  output.flush();
}

// What makes a book something else than that of the exchange.
void print_warnings(BookReplay& replay) {
  using nfx::market::Applied;
  const nfx::market::OrderBooks& books = replay.books();
  for (std::size_t i = 0; i < nfx::market::applied_kinds; ++i) {
    const auto applied = static_cast<Applied>(i);
    if (books.count(applied) == 0) continue;
    print_error("nfx market: {} events did not fit the books: {}\n", books.count(applied), to_string(applied));
  }
  if (replay.reader().unknown_actions() != 0) {
    print_error("nfx market: {} records have an unknown action\n", replay.reader().unknown_actions());
  }
  if (replay.left_out() != 0) {
    print_error("nfx market: {} events of instruments beyond the first {} were left out\n", replay.left_out(),
                books.instruments());
  }
}

int run(const BookOptions& options) {
  ReplayOptions replay_options;
  replay_options.instrument = options.instrument;
  if (!options.at.empty()) replay_options.until = parse_time("--at", options.at);
  BookReplay replay{replay_options};
  const bool good =
      read_file(options.file, replay.reader(), [&](std::span<const std::byte> chunk) { return replay.read(chunk); });
  print_warnings(replay);
  options.json ? print_json(replay, options.depth) : print_text(replay, options);
  return good ? exit_done : exit_failed;
}

}  // namespace

cli::Command book_command() {
  static BookOptions options;
  return {
      .name = "book",
      .summary = "Show the order books at the end of a recording, or at a time in it",
      .run = [] { return run(options); },
      .options = {file_option(options.file),
                  json_option(options.json),
                  {.names = "--at",
                   .target = &options.at,
                   .help = "At this time of receipt: 2023-12-25T17:00:00.5Z, 20231225-17:00:00.5, or nanoseconds",
                   .value = "TIME"},
                  {.names = "--depth", .target = &options.depth, .help = "Levels shown of each side", .value = "N"},
                  instrument_option(options.instrument)},
      .details =
          R"(Every record by order is applied; a book is stale when an event does not fit it, for example the cancellation of an order that was never added. Such events are counted on standard error.
The JSON document has the number of changes of the best prices at the ends of events, and the SHA-256 of all of them, so that two programs can be compared. Its prices are rounded down to the whole part: -0.25 is -1.750000000.)",
      .examples = {{.line = "nfx market book es.mbo.dbn.zst --depth 5", .about = "the last book of a day"},
                   {.line = "nfx market book es.mbo.dbn.zst --at 2023-12-25T18:00:00Z --json"}},
  };
}

}  // namespace nfx::app::market
