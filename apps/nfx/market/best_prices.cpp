// Formats lines of best prices, and hashes them.
#include "market/best_prices.hpp"

#include <openssl/evp.h>

#include <cstring>
#include <stdexcept>

#include "base/text.hpp"
#include "market/price_text.hpp"

namespace nfx::app::market {

Sha256Stream::Sha256Stream() : context_(EVP_MD_CTX_new()) {
  if (context_ == nullptr || EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(context_), EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("the crypto library has no SHA-256");
  }
}

Sha256Stream::~Sha256Stream() { EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context_)); }

void Sha256Stream::add(const char* bytes, std::size_t size) {
  if (EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(context_), bytes, size) != 1) {
    throw std::runtime_error("the crypto library cannot continue a SHA-256");
  }
}

std::string Sha256Stream::hex() {
  std::array<unsigned char, 32> digest;
  if (EVP_DigestFinal_ex(static_cast<EVP_MD_CTX*>(context_), digest.data(), nullptr) != 1) {
    throw std::runtime_error("the crypto library cannot end a SHA-256");
  }
  return hexadecimal(text_of_bytes(digest));
}

BestPrices::BestPrices(std::uint32_t instruments) : tops_(map_array<Top>(instruments, "best prices")) {}

// Always copies a fixed size that covers most texts, so that it takes a few moves; `out` has space for it.
char* BestPrices::copy(char* out, const Written& written) noexcept {
  std::memcpy(out, written.text.data(), 32);
  if (written.size > 32) [[unlikely]]
    std::memcpy(out + 32, written.text.data() + 32, 32);
  return out + written.size;
}

// " 4810.250000000 28", or " none 0".
char* BestPrices::write_side(char* out, bool there, std::int64_t price, Written& written,
                             std::uint64_t quantity) noexcept {
  if (there) {
    if (written.number != static_cast<std::uint64_t>(price) || written.size == 0) {
      written.number = static_cast<std::uint64_t>(price);
      written.text[0] = ' ';
      char* const end = write_floored(written.text.data() + 1, {price});
      *end = ' ';
      written.size = static_cast<std::size_t>(end + 1 - written.text.data());
    }
    out = copy(out, written);
  } else {
    std::memcpy(out, " none ", 6);
    out += 6;
  }
  return write_number(out, quantity);
}

char* BestPrices::write_time(char* out, std::uint64_t nanoseconds) noexcept {
  constexpr std::uint64_t split = 100'000'000;
  const std::uint64_t high = nanoseconds / split;
  if (high == 0) return write_number(out, nanoseconds);
  if (time_.number != high) {
    time_.number = high;
    time_.size = static_cast<std::size_t>(write_number(time_.text.data(), high) - time_.text.data());
  }
  out = copy(out, time_);
  digit_words::store(out, digit_words::eight(nanoseconds % split) + digit_words::zero_characters);
  return out + 8;
}

void BestPrices::add_line(const nfx::market::Event& event, const Top& top) {
  if (text_.size() - size_ < line_max) [[unlikely]] {
    hash_.add(text_.data(), size_);
    size_ = 0;
  }
  if (const auto id = std::to_underlying(event.instrument); instrument_.number != id) {
    instrument_.number = id;
    char* const end = write_number(instrument_.text.data(), id);
    *end = ' ';
    instrument_.size = static_cast<std::size_t>(end + 1 - instrument_.text.data());
  }
  char* out = copy(text_.data() + size_, instrument_);
  out = write_time(out, static_cast<std::uint64_t>(event.receive_time.time_since_epoch().count()));
  out = write_side(out, (top.state & has_bid) != 0, top.bid, bid_, top.bid_quantity);
  out = write_side(out, (top.state & has_ask) != 0, top.ask, ask_, top.ask_quantity);
  *out++ = '\n';
  size_ = static_cast<std::size_t>(out - text_.data());
}

std::string BestPrices::sha256() {
  hash_.add(text_.data(), size_);
  size_ = 0;
  return hash_.hex();
}

}  // namespace nfx::app::market
