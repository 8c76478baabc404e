// Formats journal records for nfx store cat and tail.
#include "store/record_printer.hpp"

#include <unistd.h>

#include "output.hpp"
#include "store/store_commands.hpp"

namespace nfx::app::store {
namespace {

constexpr std::uint32_t max_raw_fields = 32768;

}  // namespace

std::string text_of(const RecordHeader& header, std::string_view body) {
  const std::string number = std::to_string(header.seq);
  std::string text;
  switch (header.kind) {
    case RecordKind::none: return "nothing";
    case RecordKind::message: return "message " + number;
    case RecordKind::next_inbound: text = "next in " + number; break;
    case RecordKind::next_outbound: text = "next out " + number; break;
    case RecordKind::reset: return "reset: both sequence numbers are 1, earlier messages cannot be resent";
    case RecordKind::opened: return "opened by process " + number;
    case RecordKind::closed: return "closed in order";
  }
  if (text.empty()) return "record of kind " + std::to_string(std::to_underlying(header.kind));
  if (has_flag(header, RecordFlag::by_operator)) text += ", set by hand";
  if (has_flag(header, RecordFlag::imported)) text += ", imported";
  if (has_flag(header, RecordFlag::asked_reset)) text += " still, and the peer is asked for a reset";
  if (body.empty()) return text;
  text += ": ";
  append_printable(text, body);
  return text;
}

RecordPrinter::RecordPrinter(const PrinterOptions& options)
    : form_(options.form),
      name_sessions_(options.name_sessions),
      print_{options.show_secrets, Palette{use_colour(options.color, Stream::out)}, {}, {}},
      decoder_(dictionaries_, false),
      view_(max_raw_fields) {
  for (const std::string& file : options.dictionaries) dictionaries_.add(file);
}

void RecordPrinter::print(SafeText& out, const std::string& identity, const RecordHeader& header,
                          std::string_view body) {
  if (name_sessions_ && form_ != RecordForm::json && identity != last_identity_) {
    out += print_.palette(Colour::bold);
    out += identity;
    out += print_.palette(Colour::plain);
    out += '\n';
    last_identity_ = identity;
  }
  if (header.kind == RecordKind::message || is_received(header)) {
    print_message(out, identity, header, body);
  } else {
    print_other(out, identity, header, body);
  }
}

void RecordPrinter::print_message(SafeText& out, const std::string& identity, const RecordHeader& header,
                                  std::string_view body) {
  const bool received = is_received(header);
  const std::string number = std::to_string(received ? header.seq - 1 : header.seq);
  const std::string time = nanosecond_stamp(time_of(header));
  const bool imported = has_flag(header, RecordFlag::imported);
  if (form_ == RecordForm::raw) {
    out.add("{} #{}{}", time, number, imported ? " imported " : received ? " received " : " ");
    view_.parse_leniently(body);
    append_raw(out, view_, print_.show_secrets);
    out += '\n';
    return;
  }
  FoundMessage found;
  found.text = body;
  const DecodedMessage& message = decoder_.decode(found);
  if (form_ == RecordForm::json) {
    SafeText place = made("\"session\":{}", json_text(identity));
    place.add(",\"number\":{}", number);
    append_member(place, "stored", time);
    if (received) place += ",\"received\":true";
    if (imported) place += ",\"imported\":true";
    print_.json_place = place.view();
    print_json(out, message, print_);
    return;
  }
  // The message has its sequence number too, and a difference is an error that must be visible.
  print_.place = time;
  if (!received && message.seq != number) print_.place += ", stored as " + number;
  if (imported) print_.place += ", imported";
  if (received) print_.place += ", received";
  if (form_ == RecordForm::one_line) {
    print_one_line(out, message, print_);
  } else {
    print_fields(out, message, print_);
  }
}

void RecordPrinter::print_other(SafeText& out, const std::string& identity, const RecordHeader& header,
                                std::string_view body) {
  if (form_ == RecordForm::json) {
    out += "{\"session\":";
    append_json_text(out, identity);
    append_member(out, "record", to_string(header.kind));
    append_member(out, header.kind == RecordKind::opened ? "pid" : "number", header.seq);
    append_member(out, "stored", nanosecond_stamp(time_of(header)));
    if (has_flag(header, RecordFlag::by_operator)) out += ",\"by_operator\":true";
    if (has_flag(header, RecordFlag::imported)) out += ",\"imported\":true";
    if (has_flag(header, RecordFlag::asked_reset)) out += ",\"asked_reset\":true";
    if (!body.empty()) append_member(out, "because", body);
    out += "}\n";
    return;
  }
  out += print_.palette(Colour::dim);
  out.add("{} ", nanosecond_stamp(time_of(header)));
  out += print_.palette(Colour::plain);
  out.add("{}\n", text_of(header, body));
  if (form_ == RecordForm::fields) out += '\n';
}

}  // namespace nfx::app::store
