// Makes a message readable and hides passwords, for logs that other people read.
#include "log/message_text.hpp"

#include <algorithm>
#include <optional>

#include "base/printable.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "wire/secret_fields.hpp"

namespace nfx {
namespace {

constexpr char separator_byte = '\x01';

std::optional<std::uint32_t> read_number(std::string_view text) noexcept {
  if (text.empty() || text.size() > 9) return std::nullopt;
  std::uint32_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return number;
}

// Splits a message at SOH, or by the length that precedes a data field.
class Pieces {
 public:
  explicit Pieces(std::string_view message) noexcept : rest_(message) {}

  struct Piece {
    std::string_view text;
    std::size_t value_begin = 0;  // index in text; 0: not preceded by "tag="
    Tag tag{};
    bool ended = false;  // followed by SOH
  };

  [[nodiscard]] bool next(Piece& piece) noexcept {
    if (rest_.empty()) return false;
    piece = {};
    std::size_t size = std::min(rest_.find(separator_byte), rest_.size());
    const std::size_t equals = rest_.substr(0, size).find('=');
    const auto tag = equals == std::string_view::npos ? std::nullopt : read_number(rest_.substr(0, equals));
    if (tag && *tag != 0) {
      piece.tag = Tag{static_cast<std::int32_t>(*tag)};
      piece.value_begin = equals + 1;
      if (data_tag_ != Tag{} && piece.tag == data_tag_) size = end_of_data(piece, size);
      data_tag_ = data_tag_of(piece.tag);
      data_size_ = data_tag_ == Tag{} ? 0 : read_number(rest_.substr(equals + 1, size - equals - 1)).value_or(no_size);
    }
    piece.text = rest_.substr(0, size);
    piece.ended = size < rest_.size();
    rest_.remove_prefix(std::min(rest_.size(), size + 1));
    return true;
  }

 private:
  static constexpr std::size_t no_size = SIZE_MAX;

  // If a length does not lead to a SOH, the end of a secret could be anywhere.
  [[nodiscard]] std::size_t end_of_data(const Piece& piece, std::size_t size) const noexcept {
    const std::size_t room = rest_.size() - piece.value_begin;
    const std::size_t end = piece.value_begin + std::min(data_size_, room);
    if (data_size_ < room && rest_[end] == separator_byte) return end;
    return is_secret(piece.tag) ? rest_.size() : size;
  }

  std::string_view rest_;
  Tag data_tag_{};  // the data field announced by the last piece
  std::size_t data_size_ = 0;
};

void append_bytes(std::string& out, std::string_view bytes, Separator separator) {
  if (separator == Separator::bar) return append_printable(out, bytes);
  for (const char c : bytes) {
    if (c == '\n') {
      out += "\\x0a";
    } else {
      out += c;
    }
  }
}

// Calls visit(piece, masked) for each piece.
template <class Visit>
void for_each_piece(std::string_view message, bool show_secrets, Visit&& visit) {
  Pieces pieces{message};
  Pieces::Piece piece;
  bool after_secret = false;
  while (pieces.next(piece)) {
    const bool secret = piece.value_begin == 0 ? after_secret : is_secret(piece.tag);
    visit(piece, secret && !show_secrets);
    after_secret = secret;
  }
}

}  // namespace

void append_message_text(std::string& out, std::string_view message, MessageTextOptions options) {
  out.reserve(out.size() + message.size() + 1);
  for_each_piece(message, options.show_secrets, [&](const Pieces::Piece& piece, bool masked) {
    append_bytes(out, masked ? piece.text.substr(0, piece.value_begin) : piece.text, options.separator);
    if (masked) out += masked_text;
    if (piece.ended) out += options.separator == Separator::bar ? '|' : separator_byte;
  });
}

void mask_secrets(std::span<char> message) noexcept {
  for_each_piece({message.data(), message.size()}, false, [&](const Pieces::Piece& piece, bool masked) {
    const std::string_view hidden = piece.text.substr(piece.value_begin);
    if (masked)
      std::ranges::fill(message.subspan(static_cast<std::size_t>(hidden.data() - message.data()), hidden.size()), '*');
  });
}

std::vector<ShownField> shown_fields(std::string_view message, bool show_secrets) {
  std::vector<ShownField> fields;
  for_each_piece(message, show_secrets, [&](const Pieces::Piece& piece, bool masked) {
    ShownField& field = fields.emplace_back(piece.tag);
    if (masked) {
      field.value = masked_text;
    } else {
      append_printable(field.value, piece.text.substr(piece.value_begin));
    }
  });
  return fields;
}

}  // namespace nfx
