// Lines of best prices, and their hash.
#include "market/best_prices.hpp"

#include <openssl/evp.h>

#include <stdexcept>

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
  std::string text;
  for (const unsigned char byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

BestPrices::BestPrices(std::uint32_t instruments) : tops_(map_array<Top>(instruments, "best prices")) {}

void BestPrices::add_line(const nfx::market::Event& event, const Top& top) {
  if (text_.size() - size_ < line_max) [[unlikely]] {
    hash_.add(text_.data(), size_);
    size_ = 0;
  }
  char* out = text_.data() + size_;
  const auto add_side = [&](bool there, std::int64_t price, std::uint64_t quantity) {
    *out++ = ' ';
    if (there) {
      out = write_floored(out, {price});
    } else {
      std::memcpy(out, "none", 4);
      out += 4;
    }
    *out++ = ' ';
    out = write_number(out, quantity);
  };
  out = write_number(out, std::to_underlying(event.instrument));
  *out++ = ' ';
  out = write_number(out, static_cast<std::uint64_t>(event.receive_time.time_since_epoch().count()));
  add_side((top.state & has_bid) != 0, top.bid, top.bid_quantity);
  add_side((top.state & has_ask) != 0, top.ask, top.ask_quantity);
  *out++ = '\n';
  size_ = static_cast<std::size_t>(out - text_.data());
}

std::string BestPrices::sha256() {
  hash_.add(text_.data(), size_);
  size_ = 0;
  return hash_.hex();
}

}  // namespace nfx::app::market
