// nfx market convert: writes the events of a recording as CSV, as columns, or as an ITCH file of many stocks.
#include <array>
#include <bit>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error_text.hpp"
#include "command.hpp"
#include "market/dbn_records.hpp"
#include "market/event_columns.hpp"
#include "market/itch_spreader.hpp"
#include "market/market.hpp"
#include "market/market_file.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "output_file.hpp"
#include "text.hpp"

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

constexpr std::size_t header_size = 128;

struct TypeRow {
  std::string_view numpy;
  std::size_t size;
};
TypeRow row_of(ColumnType type) {
  switch (type) {
    case ColumnType::u8: return {"|u1", 1};
    case ColumnType::u32: return {"<u4", 4};
    case ColumnType::u64: return {"<u8", 8};
    case ColumnType::i64: return {"<i8", 8};
  }
  return {};
}

std::string header_of(ColumnType type, std::uint64_t rows) {
  constexpr std::string_view begin{"\x93NUMPY\x01\x00\x76\x00", 10};  // followed by the length of the header
  std::string header{begin};
  header += "{'descr': '" + std::string{row_of(type).numpy} + "', 'fortran_order': False, 'shape': (" +
            std::to_string(rows) + ",), }";
  NFX_ASSERT(header.size() < header_size);
  header.resize(header_size - 1, ' ');
  return header + '\n';
}

void append_little_endian(std::string& out, std::uint64_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) out += static_cast<char>(number >> 8 * i);
}

std::filesystem::path made_folder(const std::string& name, bool overwrite) {
  std::error_code error;
  const std::filesystem::path folder{name};
  std::filesystem::create_directories(folder, error);
  if (error) throw ConfigError(cannot("make folder", folder, error.value()) + "; give another folder");
  if (!overwrite && !std::filesystem::is_empty(folder, error)) {
    throw ConfigError(name + ": is not empty; give another folder, or --force to overwrite its columns");
  }
  return folder;
}

// Writes events as a folder of columns in NumPy's format, version 1.0: NAME.npy has one column as numbers of a fixed
// size, little-endian after a header of 128 bytes, which NumPy loads or maps; schema.json has the columns with their
// types and texts, and the names of the instruments. pyarrow can write Parquet from them, see docs/market-data.md.
// Cost: a store per value and a write per 64 KiB of a column. Errors: OutputFile's; ConfigError if the folder has files
// and may not be overwritten.
class ColumnsWriter {
 public:
  ColumnsWriter(const std::string& folder, bool overwrite);

  void add(const Event& event);
  // The files are incomplete until this call.
  void finish(const std::map<std::string, InstrumentId, std::less<>>& symbols);

  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }

 private:
  std::filesystem::path folder_;
  bool overwrite_;
  std::vector<OutputFile> files_;  // by column
  std::uint64_t rows_ = 0;
};

ColumnsWriter::ColumnsWriter(const std::string& folder, bool overwrite)
    : folder_(made_folder(folder, overwrite)), overwrite_(overwrite) {
  for (const EventColumn& column : event_columns) {
    OutputFile& file = files_.emplace_back(
        OutputFileOptions{.path = folder_ / (std::string{column.name} + ".npy"), .overwrite = overwrite});
    file.bytes = header_of(column.type, 0);
  }
}

void ColumnsWriter::add(const Event& event) {
  for (std::size_t i = 0; i < event_columns.size(); ++i) {
    append_little_endian(files_[i].bytes, event_columns[i].number(event), row_of(event_columns[i].type).size);
    files_[i].flush_when_large();
  }
  ++rows_;
}

void ColumnsWriter::finish(const std::map<std::string, InstrumentId, std::less<>>& symbols) {
  SafeText schema;
  schema.add("{\"rows\": {}, \"columns\": [", rows_);
  for (std::size_t i = 0; i < event_columns.size(); ++i) {
    const EventColumn& column = event_columns[i];
    files_[i].rewrite_beginning(header_of(column.type, rows_));
    files_[i].finish();
    schema.add("{}\n  {\"name\": \"{}\", \"file\": \"{}.npy\", \"type\": \"{}\", \"about\": \"{}\"", i == 0 ? "" : ",",
               column.name, column.name, row_of(column.type).numpy, column.about);
    for (std::size_t name = 0; name < column.names; ++name) {
      schema.add("{}\"{}\"", name == 0 ? ", \"names\": [" : ", ", column.name_of(name));
    }
    schema += column.names == 0 ? Literal{"}"} : Literal{"]}"};
  }
  schema += "],\n \"symbols\": {";
  bool first = true;
  for (const auto& [name, id] : symbols) {
    schema.add("{}\n  ", first ? "" : ",");
    append_json_text(schema, name);
    schema.add(": {}", std::to_underlying(id));
    first = false;
  }
  schema += "}}\n";
  OutputFile file{{.path = folder_ / "schema.json", .overwrite = overwrite_}};
  file.bytes = schema.view();
  file.finish();
}

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
          {{.names = "--to", .target = &options.to, .help = "Output format", .one_of = {"csv", "columns", "itch"}},
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
