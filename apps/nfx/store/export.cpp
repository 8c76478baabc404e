// nfx store export: the messages of a session for other tools.
#include <string>
#include <vector>

#include "cli/progress.hpp"
#include "command.hpp"
#include "output_file.hpp"
#include "store/record_printer.hpp"
#include "store/store_commands.hpp"

namespace nfx::app::store {
namespace {

struct ExportOptions {
  Place place;
  std::string archive;
  std::string to;
  std::string format = "fixlog";
  std::uint64_t first = 0;
  std::uint64_t last = UINT64_MAX;
  bool force = false;
};

// "YYYYMMDD-HH:MM:SS.nnnnnnnnn" of a record; 1970 if it has no time.
std::string stamp(const RecordHeader& header) {
  char text[max_utc_timestamp_size];
  return {text, write_utc_timestamp(text, time_of(header), 9)};
}

void append_fixlog(std::string& out, const RecordHeader& header, std::string_view body) {
  out += stamp(header) + " : ";
  out += body;
  out += '\n';
}

// One packet in text2pcap's format: the time, lines of 16 bytes with their offset, an empty line.
void append_hex_dump(std::string& out, const RecordHeader& header, std::string_view body) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += stamp(header) + '\n';
  for (std::size_t at = 0; at < body.size(); at += 16) {
    for (int shift = 20; shift >= 0; shift -= 4) out += digits[(at >> shift) & 15];
    for (const char c : body.substr(at, 16)) {
      const auto byte = static_cast<unsigned char>(c);
      out += ' ';
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
    out += '\n';
  }
  out += '\n';
}

int export_messages(const ExportOptions& options) {
  const StoredSession session = find_session(options.place);
  if (!options.archive.empty()) (void)find_archived(session, options.archive);  // before a file is created
  const bool to_stdout = options.to == "-";
  // An export is as secret as the journal. A line of fixlog contains SOH, which must not reach a terminal.
  OutputFile output{
      {.path = options.to, .overwrite = options.force, .secret = true, .printable = options.format != "fixlog"}};
  PrinterOptions json{{}, "never", true, false, RecordForm::json};
  RecordPrinter printer{json};
  std::uint64_t count = 0;
  // Standard output may be the same terminal.
  cli::Progress progress{"exporting " + session.identity, 0, to_stdout};
  const auto write = [&](const JournalRecord& record) {
    const RecordHeader& header = record.header;
    progress.add(header.size);
    if (header.kind != RecordKind::message || header.seq < options.first || header.seq > options.last) return true;
    ++count;
    if (options.format == "fixlog") {
      append_fixlog(output.bytes, header, record.body);
    } else if (options.format == "text") {
      append_hex_dump(output.bytes, header, record.body);
    } else {
      SafeText line;
      printer.print(line, session.identity, header, record.body);
      output.bytes += line.view();
    }
    output.flush_when_large();
    return true;
  };
  const std::vector<JournalScan> scans = scan_chosen(session, options.archive, write);
  progress.end();
  output.finish();
  if (!to_stdout) print("{}: {} to {}\n", session.identity, counted(count, "message"), options.to);
  int result = exit_done;
  for (const JournalScan& scan : scans) {
    if (!scan.damage || scan.torn) continue;
    print_error("nfx: {}\n", describe(*scan.damage, session, false));
    result = exit_failed;
  }
  return result;
}

}  // namespace

cli::Command export_command() {
  static ExportOptions options;
  return {
      .name = "export",
      .summary = "Write a session's messages to a file for other tools",
      .run = [] { return export_messages(options); },
      .options = with(
          place_options(options.place),
          {{.names = "--to",
            .target = &options.to,
            .help = "File to write; -: standard output",
            .required = true,
            .kind = cli::Kind::file},
           {.names = "--format",
            .target = &options.format,
            .help = "File format",
            .one_of = {"fixlog", "text", "json"}},
           {.names = "--from-number", .target = &options.first, .help = "Only messages from this sequence number on"},
           {.names = "--to-number",
            .target = &options.last,
            .help = "Only messages up to this sequence number",
            .default_text = "the last"},
           archive_option(options.archive),
           {.names = "--force", .target = &options.force, .help = "Overwrite the file"}}),
      .details =
          R"(fixlog: "YYYYMMDD-HH:MM:SS.nnnnnnnnn : 8=FIX...", a line per message, as in QuickFIX's message log. text: a hex dump per message, which text2pcap converts to a capture. json: decoded, an object per line.
Nothing is masked: passwords and RawData(96) are as they were sent, so only the owner may read the file (mode 0600).)",
      .examples = {{.line = "nfx store export journals --session 'FIX.4.4:DESK->VENUE' --to desk.log && nfx decode "
                            "desk.log"},
                   {.line = "nfx store export journals --to desk.txt --format text && TZ=UTC text2pcap -T 5001,5002 -t "
                            "'%Y%m%d-%H:%M:%S.%f' desk.txt desk.pcap"}},
  };
}

}  // namespace nfx::app::store
