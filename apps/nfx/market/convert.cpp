// nfx market convert: the events of a recording as CSV, as columns, or as an ITCH file of many stocks.
#include <array>
#include <optional>
#include <string>

#include "command.hpp"
#include "market/columns_writer.hpp"
#include "market/event_columns.hpp"
#include "market/itch_spreader.hpp"
#include "market/market.hpp"
#include "market/market_file.hpp"
#include "output_file.hpp"

namespace nfx::app::market {
namespace {

using nfx::market::Event;
using nfx::market::InstrumentId;

struct ConvertOptions {
  FileOptions file;
  std::string to = "csv";
  std::string out = "-";
  bool force = false;
  std::optional<std::uint32_t> names;
};

// A name that would end its field is quoted.
void append_csv_text(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

int to_csv(MarketFile& file, const ConvertOptions& options) {
  OutputFile out{{.path = options.out, .overwrite = options.force, .printable = true}};
  for (const EventColumn& column : event_columns) {
    out.bytes += column.name;
    out.bytes += ',';
  }
  out.bytes += "symbol\n";
  const bool good = file.for_each_event([&](const Event& event) {
    std::array<char, EventColumn::max_text * event_columns.size()> line;
    char* end = line.data();
    for (const EventColumn& column : event_columns) {
      end = column.text(end, event);
      *end++ = ',';
    }
    out.bytes.append(line.data(), end);
    append_csv_text(out.bytes, file.symbol(event.instrument));
    out.bytes += '\n';
    out.flush_when_large();
    return true;
  });
  out.finish();
  return good ? exit_done : exit_failed;
}

int to_columns(MarketFile& file, const ConvertOptions& options) {
  ColumnsWriter writer{options.out, options.force};
  const bool good = file.for_each_event([&](const Event& event) {
    writer.add(event);
    return true;
  });
  writer.finish(file.symbols());
  print("{}: {} rows of {} columns, and schema.json\n", options.out, writer.rows(), event_columns.size());
  return good ? exit_done : exit_failed;
}

int to_itch(MarketFile& file, const ConvertOptions& options) {
  constexpr std::uint32_t usual_names = 200;
  if (file.midnight()) throw cli::UsageError(options.file.path + ": is an ITCH file already");
  OutputFile out{{.path = options.out, .overwrite = options.force}};
  ItchSpreader spreader{options.names.value_or(usual_names), out.bytes};
  const bool good = file.for_each_event([&](const Event& event) {
    spreader.add(event);
    out.flush_when_large();
    return true;
  });
  spreader.end();
  out.finish();
  const SafeText done = made("{}: {} messages of {} stocks, read it with --date {}\n", options.out, spreader.messages(),
                             spreader.stocks(), spreader.date());
  options.out == "-" ? print_error(done) : print(done);
  if (spreader.left_out() != 0) {
    print_error("nfx market: {} events were left out: ITCH has no such price, quantity, time or number of stocks\n",
                spreader.left_out());
  }
  return good && spreader.left_out() == 0 ? exit_done : exit_failed;
}

int run(const ConvertOptions& options) {
  if (options.names && options.to != "itch") throw cli::UsageError("--names is for --to itch");
  if (options.to == "columns" && options.out == "-") {
    throw cli::UsageError("--to columns writes a folder: give its path with --out");
  }
  MarketFile file{options.file};
  if (options.to == "columns") return to_columns(file, options);
  return options.to == "itch" ? to_itch(file, options) : to_csv(file, options);
}

}  // namespace

cli::Command convert_command() {
  static ConvertOptions options;
  return {
      .name = "convert",
      .summary = "Write the events of a recording as CSV, as columns for NumPy and Parquet, or as an ITCH file",
      .run = [] { return run(options); },
      .options = with_file_options(
          options.file,
          {{.names = "--to", .target = &options.to, .help = "Form of the output", .one_of = {"csv", "columns", "itch"}},
           {.names = "--out",
            .target = &options.out,
            .help = "File to write, -: standard output; for columns a folder",
            .value = "PATH",
            .kind = cli::Kind::file},
           {.names = "--names",
            .target = &options.names,
            .help = "Stocks over which --to itch spreads the orders of an instrument",
            .value = "N",
            .range = cli::Range{1, 65000},
            .default_text = "200"},
           {.names = "--force", .target = &options.force, .help = "Overwrite what is there"}}),
      .details =
          R"(csv: one line per event. Times are nanoseconds since 1970, prices are exact decimals, empty where the event has none.
columns: a folder with one file per column, NAME.npy, numbers of a fixed size that NumPy loads or maps, and schema.json with their types, the texts of their codes, and the names of the instruments.
itch: the orders of a recording by order, each in one of --names stocks that its number chooses, so that every stock's book is a part of the source's. Fills and the cancels that follow them become executions. Other events of the source are left out.)",
      .examples = {{.line = "nfx market convert es.mbo.dbn.zst > es.csv", .about = "all events of a day"},
                   {.line = "nfx market convert es.mbo.dbn.zst --to columns --out es"},
                   {.line = "nfx market convert es.mbo.dbn.zst --to itch --names 200 --out es.itch",
                    .about = "a day of 200 stocks"}},
  };
}

}  // namespace nfx::app::market
