// Prints decoded messages: one field per line, one message per line, or JSON.
// Thread: any, no state. Lifetime: appends to the caller's text.
#pragma once

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

// One JSON object on one line (RFC 8259, UTF-8). Bytes that are not UTF-8 are written as \u00NN.
void print_json(SafeText& out, const DecodedMessage& message, const PrintOptions& options);

}  // namespace nfx::app
