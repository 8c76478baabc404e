// nfx market convert: writes the events of a recording as CSV, as columns, or as an ITCH file of many stocks.
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "command.hpp"
#include "market/columns_writer.hpp"
#include "market/dbn_records.hpp"
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
  std::string records;
  bool force = false;
  std::optional<std::uint32_t> names;
};

// The events of a recording as lines.
class EventLines {
 public:
  void add(const Event& event, const MarketFile& file, std::string& out) {
    begin(out);
    std::array<char, EventColumn::max_text * event_columns.size()> line;
    char* end = line.data();
    for (const EventColumn& column : event_columns) {
      end = column.text(end, event);
      *end++ = ',';
    }
    out.append(line.data(), end);
    append_csv_text(out, file.symbol(event.instrument));
    out += '\n';
  }
  // Appends the heading before the first line.
  void begin(std::string& out) {
    if (std::exchange(begun_, true)) return;
    for (const EventColumn& column : event_columns) out.append(column.name).append(",");
    out += "symbol\n";
  }

 private:
  bool begun_ = false;
};

// Whether a record is market data and not a session's own record.
bool is_of_the_market(std::uint8_t type) {
  const std::string name = record_type_name(type);
  return name != "error" && name != "system" && name != "symbol-mapping";
}

// Records of a single type, because a table has one heading: the type in --records, otherwise the first record's.
int to_csv(MarketFile& file, const ConvertOptions& options) {
  using nfx::market::DbnReader;
  OutputFile out{{.path = options.out, .overwrite = options.force, .printable = true}};
  std::optional<std::uint8_t> type;
  if (!options.records.empty()) type = record_type_of(options.records);
  if (type && file.is_itch()) throw cli::UsageError("--records is for DBN, and " + options.file.path + " is ITCH");
  EventLines events;
  std::optional<RecordLines> records;
  std::uint64_t left_out = 0;
  const auto begin = [&](std::uint8_t first) {
    if (!type) type = first;
    if (*type != DbnReader::by_order && !records) records.emplace(*type);
  };
  const bool good = file.for_each_record(
      true,
      [&](const Event& event) {
        begin(DbnReader::by_order);
        if (*type == DbnReader::by_order) {
          events.add(event, file, out.bytes);
          out.flush_when_large();
        } else {
          ++left_out;
        }
        return true;
      },
      [&](std::span<const std::byte> record) {
        const auto of = std::to_integer<std::uint8_t>(record[1]);
        if (type || is_of_the_market(of)) begin(of);
        if (records && records->add(record, file, out.bytes)) return out.flush_when_large();
        ++left_out;
      });
  if (!records) events.begin(out.bytes);
  out.finish();
  if (left_out != 0 && !file.is_itch()) {
    std::string others;
    for (const MarketFile::Count& each : file.left_out())
      others.append(others.empty() ? "" : ", ").append(std::to_string(each.count)).append(" ").append(each.name);
    print_error(
        "nfx market: {}: {} records are not in the table, which is of {}; the file has {} beside those by order, "
        "and --records NAME writes the ones of a type\n",
        options.file.path, left_out, type ? record_type_name(*type) : "none", others);
  }
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
  if (!options.records.empty() && options.to != "csv") throw cli::UsageError("--records is for --to csv");
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
           {.names = "--records",
            .target = &options.records,
            .help = "Record type for --to csv, such as trades or ohlcv-1m. Default: the first record's type",
            .value = "TYPE"},
           {.names = "--force", .target = &options.force, .help = "Overwrite an existing file"}}),
      .details =
          R"(csv: one line per event. Times are nanoseconds since 1970, prices are exact decimals, empty where the event has none. Of DBN whose records are not by order (trades, mbp-1, mbp-10, bbo-1s, ohlcv-1m, definition, statistics, status, imbalance and others), one line per record with the fields that DBN gives them.
columns: a folder with one file per column, NAME.npy, numbers of a fixed size that NumPy loads or maps, and schema.json with their types, the texts of their codes, and the names of the instruments.
itch: the orders of a recording by order, each in one of --names stocks that its number chooses, so that every stock's book is a part of the source's. Fills and the cancels that follow them become executions. Other events of the source are left out.)",
      .examples = {{.line = "nfx market convert es.mbo.dbn.zst > es.csv", .about = "all events of a day"},
                   {.line = "nfx market convert es.ohlcv-1m.dbn.zst > bars.csv", .about = "bars, a line each"},
                   {.line = "nfx market convert es.mbo.dbn.zst --to columns --out es"},
                   {.line = "nfx market convert es.mbo.dbn.zst --to itch --names 200 --out es.itch",
                    .about = "a day of 200 stocks"}},
  };
}

}  // namespace nfx::app::market
