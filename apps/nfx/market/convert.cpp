// nfx market convert: the events of a recording as CSV.
#include <array>
#include <optional>
#include <string>

#include "command.hpp"
#include "market/event_columns.hpp"
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

int run(const ConvertOptions& options) {
  MarketFile file{options.file};
  return to_csv(file, options);
}

}  // namespace

cli::Command convert_command() {
  static ConvertOptions options;
  return {
      .name = "convert",
      .summary = "Write the events of a recording as CSV",
      .run = [] { return run(options); },
      .options = with_file_options(
          options.file, {{.names = "--to", .target = &options.to, .help = "Form of the output", .one_of = {"csv"}},
                         {.names = "--out",
                          .target = &options.out,
                          .help = "File to write, -: standard output",
                          .value = "PATH",
                          .kind = cli::Kind::file},
                         {.names = "--force", .target = &options.force, .help = "Overwrite what is there"}}),
      .details =
          R"(csv: one line per event. Times are nanoseconds since 1970, prices are exact decimals, empty where the event has none.)",
      .examples = {{.line = "nfx market convert es.mbo.dbn.zst > es.csv", .about = "all events of a day"}},
  };
}

}  // namespace nfx::app::market
