// nfx market convert: the events of a recording as CSV.
#include <array>
#include <string>

#include "command.hpp"
#include "market/market.hpp"
#include "market/price_text.hpp"
#include "text.hpp"

namespace nfx::app::market {
namespace {

using nfx::market::Event;

struct ConvertOptions {
  std::string file;
  std::string to = "csv";
  std::optional<std::uint32_t> instrument;
};

constexpr std::string_view header =
    "receive_time,event_time,instrument,event,side,order,price,quantity,flags,sequence\n";

class CsvWriter {
 public:
  CsvWriter() : text_(header) {}

  void add(const Event& event) {
    std::array<char, 320> line;
    char* out = line.data();
    const auto number = [&](std::uint64_t value) {
      out = write_number(out, value);
      *out++ = ',';
    };
    const auto text = [&](std::string_view value) {
      out = std::copy(value.begin(), value.end(), out);
      *out++ = ',';
    };
    number(static_cast<std::uint64_t>(event.receive_time.time_since_epoch().count()));
    number(static_cast<std::uint64_t>(event.event_time.time_since_epoch().count()));
    number(std::to_underlying(event.instrument));
    text(to_string(event.kind));
    text(event.side == nfx::market::Side::none ? std::string_view{} : to_string(event.side));
    number(std::to_underlying(event.order));
    if (event.price.defined()) out = write_decimal(out, event.price);
    *out++ = ',';
    number(event.quantity);
    number(event.flags);
    number(event.sequence);
    out[-1] = '\n';
    text_.append(line.data(), out);
    if (text_.size() >= 64 * 1024) flush();
  }

  void flush() {
    if (!text_.empty()) print(SafeText::lines(text_));
    text_.clear();
  }

 private:
  std::string text_;
};

int run(const ConvertOptions& options) {
  nfx::market::DbnReader reader;
  CsvWriter writer;
  const auto take = [&](const Event& event) {
    if (!options.instrument || std::to_underlying(event.instrument) == *options.instrument) writer.add(event);
    return true;
  };
  const bool good =
      read_file(options.file, reader, [&](std::span<const std::byte> chunk) { return reader.read(chunk, take); });
  writer.flush();
  return good ? exit_done : exit_failed;
}

}  // namespace

cli::Command convert_command() {
  static ConvertOptions options;
  return {
      .name = "convert",
      .summary = "Print the events of a recording as CSV",
      .run = [] { return run(options); },
      .options = {file_option(options.file),
                  {.names = "--to", .target = &options.to, .help = "Form of the output", .one_of = {"csv"}},
                  instrument_option(options.instrument)},
      .details =
          R"(One line per record by order. Times are nanoseconds since 1970, prices are exact decimals, empty where the record has none. Each column has one type, so that tools that write Parquet take it as it is.)",
      .examples = {{.line = "nfx market convert es.mbo.dbn.zst --to csv > es.csv", .about = "all events of a day"}},
  };
}

}  // namespace nfx::app::market
