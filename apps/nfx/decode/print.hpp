// Prints decoded messages: one field per line, one message per line, or JSON.
// Thread: any, no state. Lifetime: appends to the caller's text.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "decode/decoder.hpp"
#include "text.hpp"

namespace nfx::app {

struct PrintOptions {
  bool show_secrets = false;
  Palette palette{false};
  // The location of a message that is not from a line of a log: in text instead of "line 3", in JSON as members
  // ("\"number\":3") instead of "line".
  std::string place;
  std::string json_place;
};

// A header line, errors, then one line per field, groups indented.
void print_fields(SafeText& out, const DecodedMessage& message, const PrintOptions& options);

// All of it on one line.
void print_one_line(SafeText& out, const DecodedMessage& message, const PrintOptions& options);

// One line of comma-separated values (RFC 4180): place, time, type, session and number of the message, whether it is
// right, and the first value of each of these fields.
void print_csv(SafeText& out, const DecodedMessage& message, const PrintOptions& options,
               std::span<const std::uint32_t> tags);
// The line of their names.
void print_csv_header(SafeText& out, std::span<const std::string> fields);

// One JSON object on one line (RFC 8259, UTF-8). Bytes that are not UTF-8 are written as \u00NN.
void print_json(SafeText& out, const DecodedMessage& message, const PrintOptions& options);

}  // namespace nfx::app
