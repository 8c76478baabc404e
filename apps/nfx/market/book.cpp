// nfx market book: prints the order books at the end of a recording, or at a time in it.
#include <optional>
#include <vector>

#include "command.hpp"
#include "json_output.hpp"
#include "market/book_replay.hpp"
#include "market/market.hpp"
#include "market/market_file.hpp"
#include "text.hpp"

namespace nfx::app::market {
namespace {

using nfx::market::InstrumentId;
using nfx::market::InstrumentIndex;
using nfx::market::Level;
using nfx::market::OrderBook;
using nfx::market::Side;

struct BookOptions {
  FileOptions file;
  bool json = false;
  std::string at;
  std::uint32_t depth = 10;
};

std::vector<Level> best_levels(const OrderBook& book, Side side, std::uint32_t depth) {
  std::vector<Level> levels(std::min(depth, book.level_count(side)));
  levels.resize(book.levels(side, levels));
  return levels;
}

Json json_of(const std::vector<Level>& levels) {
  Json all = Json::array();
  for (const Level& level : levels)
    all.push_back({{"price", floored_price(level.price)}, {"size", level.quantity}, {"orders", level.orders}});
  return all;
}

void print_json(BookReplay& replay, std::uint32_t depth) {
  Json instruments = Json::object();
  for (std::uint32_t i = 0; i < replay.instruments().size(); ++i) {
    const OrderBook book = replay.books().book(InstrumentIndex{i});
    instruments[std::to_string(std::to_underlying(replay.instruments().id(InstrumentIndex{i})))] = {
        {"orders", book.orders()},
        {"levels", {book.level_count(Side::bid), book.level_count(Side::ask)}},
        {"bids", json_of(best_levels(book, Side::bid, depth))},
        {"asks", json_of(best_levels(book, Side::ask, depth))}};
  }
  print(json_line({{"records", replay.records()},
                   {"trades", replay.trades()},
                   {"traded_size", replay.traded()},
                   {"bbo_changes", replay.best_prices().changes()},
                   {"bbo_sha256", replay.best_prices().sha256()},
                   {"instruments", std::move(instruments)}}));
}

void append_padded(SafeText& out, const std::string& text, std::size_t width) {
  if (text.size() < width) out.append_spaces(width - text.size());
  out += text;
}

void append_book(SafeText& out, const OrderBook& book, std::uint32_t depth) {
  const auto bids = best_levels(book, Side::bid, depth), asks = best_levels(book, Side::ask, depth);
  out.add("  {} orders, {} bid and {} ask levels, {}{}, hash {}\n", book.orders(), book.level_count(Side::bid),
          book.level_count(Side::ask), to_string(book.state()), book.crossed() ? ", crossed" : "",
          std::to_string(book.hash()));
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

void print_text(BookReplay& replay, const MarketFile& file, const BookOptions& options) {
  Output output;
  SafeText& out = output.text;
  out.add("{}: {} records by order, {} trades of {}, {} changes of the best prices; the last record is of {}\n",
          options.file.path, replay.records(), replay.trades(), replay.traded(), replay.best_prices().changes(),
          time_text(replay.last_time()));
  for (std::uint32_t i = 0; i < replay.instruments().size(); ++i) {
    const InstrumentId id = replay.instruments().id(InstrumentIndex{i});
    const std::string_view symbol = file.symbol(id);
    out.add("\ninstrument {}{}{}\n", std::to_underlying(id), symbol.empty() ? "" : " ", symbol);
    append_book(out, replay.books().book(InstrumentIndex{i}), options.depth);
    output.flush_when_large();
  }
  output.flush();
}

// Warns about everything that makes a book differ from the exchange's.
void print_warnings(const BookReplay& replay, const MarketFile& file) {
  using nfx::market::Applied;
  const nfx::market::OrderBooks& books = replay.books();
  for (std::size_t i = 0; i < nfx::market::applied_kinds; ++i) {
    const auto applied = static_cast<Applied>(i);
    if (books.count(applied) == 0) continue;
    print_error("nfx market: {} events did not fit the books: {}\n", books.count(applied), to_string(applied));
  }
  if (file.undefined_records() != 0) {
    print_error("nfx market: {} records have an unknown action or type\n", file.undefined_records());
  }
  if (replay.left_out() != 0) {
    print_error("nfx market: {} events of instruments beyond the first {} were left out\n", replay.left_out(),
                books.instruments());
  }
}

int run(const BookOptions& options) {
  MarketFile file{options.file};
  ReplayOptions replay_options;
  replay_options.limits.orders_unique = file.orders_unique();
  if (!options.at.empty()) replay_options.until = parse_time("--at", options.at, file.midnight());
  BookReplay replay{replay_options};
  const bool good = file.for_each_book_event(replay.sink());
  print_warnings(replay, file);
  options.json ? print_json(replay, options.depth) : print_text(replay, file, options);
  return good ? exit_done : exit_failed;
}

}  // namespace

cli::Command book_command() {
  static BookOptions options;
  return {
      .name = "book",
      .summary = "Show the order books at the end of a recording, or at a time in it",
      .run = [] { return run(options); },
      .options = with_file_options(
          options.file,
          {json_option(options.json),
           {.names = "--at",
            .target = &options.at,
            .help = "At this time of receipt: 2023-12-25T17:00:00.5Z, 20231225-17:00:00.5, or nanoseconds; in an ITCH "
                    "file also 09:30:00.5 in New York",
            .value = "TIME"},
           {.names = "--depth",
            .target = &options.depth,
            .help = "Number of levels shown on each side",
            .value = "N"}}),
      .details =
          R"(Every record by order is applied; a book is stale when an event does not fit it, for example the cancellation of an order that was never added. Such events are counted on standard error.
The JSON document has the number of changes of the best prices at the ends of events, and the SHA-256 of all of them, so that two programs can be compared. Its prices are rounded down to the whole part: -0.25 is -1.750000000.)",
      .examples = {{.line = "nfx market book es.mbo.dbn.zst --depth 5", .about = "the last book of a day"},
                   {.line = "nfx market book es.mbo.dbn.zst --at 2023-12-25T18:00:00Z --json"},
                   {.line = "nfx market book day.itch --instrument AAPL --at 09:30:05"}},
  };
}

}  // namespace nfx::app::market
