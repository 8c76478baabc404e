// Stores secrets in blocks of 64 bytes and more, in locked pages that are excluded from core dumps.
#include "nexusfix/base/secret.hpp"

#include <sys/mman.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <span>
#include <system_error>
#include <utility>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx {
namespace {

// Memory is mapped in regions, which are never unmapped: secrets come and go, and are few.
class Vault {
 public:
  static Vault& get() {
    static Vault& vault = *new Vault;  // never destroyed, because other static objects may clear their secrets later
    return vault;
  }

  [[nodiscard]] char* take(std::size_t size) {
    const std::lock_guard lock{mutex_};
    const std::size_t block = std::bit_ceil(std::max(size, smallest));
    const auto index = static_cast<std::size_t>(std::countr_zero(block));
    NFX_REQUIRE(index < free_.size());
    if (char* const reused = free_[index]; reused != nullptr) {
      std::memcpy(static_cast<void*>(&free_[index]), reused, sizeof(char*));
      std::fill_n(reused, sizeof(char*), '\0');
      return reused;
    }
    if (left_.size() < block) left_ = map(std::max(block, region));  // the rest of a region is lost, at most once
    char* const taken = left_.data();
    left_ = left_.subspan(block);
    return taken;
  }

  void give_back(char* taken, std::size_t size) noexcept {
    const std::lock_guard lock{mutex_};
    const std::size_t block = std::bit_ceil(std::max(size, smallest));
    const auto index = static_cast<std::size_t>(std::countr_zero(block));
    ::explicit_bzero(taken, block);
    std::memcpy(taken, static_cast<const void*>(&free_[index]), sizeof(char*));
    free_[index] = taken;
  }

 private:
  static constexpr std::size_t smallest = 64;
  static constexpr std::size_t region = std::size_t{16} * 1024;

  static std::span<char> map(std::size_t size) {
    void* const pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
      throw std::system_error(errno, std::generic_category(),
                              "cannot map " + std::to_string(size) + " bytes for passwords");
    }
    // Both calls are best effort.
    static_cast<void>(::madvise(pages, size, MADV_DONTDUMP));
    static_cast<void>(::mlock(pages, size));
    return {static_cast<char*>(pages), size};
  }

  std::mutex mutex_;
  std::span<char> left_;
  std::array<char*, 32> free_{};  // free blocks by the logarithm of their size; each begins with a pointer to the next
};

using Digest = std::array<std::uint8_t, 32>;
using Salt = std::array<char, 32>;

Salt random_salt() {
  Salt salt;
  std::size_t filled = 0;
  while (filled < salt.size()) {
    const ssize_t got = ::getrandom(salt.data() + filled, salt.size() - filled, 0);
    if (got < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "getrandom");
    if (got > 0) filled += static_cast<std::size_t>(got);
  }
  return salt;
}

// Uses the stack, which is then cleared, because a comparison must not wait for memory.
Digest digest_of(std::span<const char, sizeof(Salt)> salt, std::string_view text) noexcept {
  std::array<char, sizeof(Salt) + Secret::longest_compared> both;
  NFX_REQUIRE(text.size() <= Secret::longest_compared);
  const std::size_t size = salt.size() + text.size();
  std::ranges::copy(salt, both.begin());
  std::ranges::copy(text, both.begin() + salt.size());
  const Digest digest = sha256({both.data(), size});
  ::explicit_bzero(both.data(), size);
  return digest;
}

}  // namespace

// Either the text, or a salt and the digest of both.
struct Secret::Bytes {
  explicit Bytes(std::size_t length) : size(length), begin(Vault::get().take(length)) {}
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() { Vault::get().give_back(begin, size); }

  const std::size_t size;
  char* const begin;
  bool is_text = true;
};

Secret::Secret(std::string_view text, Plain) {
  if (text.empty()) return;
  const auto made = std::make_shared<Bytes>(text.size());
  std::ranges::copy(text, made->begin);
  bytes_ = made;
}

std::string_view Secret::reveal() const noexcept {
  return bytes_ != nullptr && bytes_->is_text ? std::string_view{bytes_->begin, bytes_->size} : std::string_view{};
}

void Secret::keep_digest() {
  const std::string_view text = reveal();
  if (text.empty() || text.size() > longest_compared) return;
  const auto made = std::make_shared<Bytes>(sizeof(Salt) + sizeof(Digest));
  made->is_text = false;
  const Salt salt = random_salt();
  const Digest digest = digest_of(std::span{salt}, text);
  std::memcpy(made->begin, salt.data(), salt.size());
  std::memcpy(made->begin + salt.size(), digest.data(), digest.size());
  bytes_ = made;
}

bool Secret::matches(std::string_view given) const noexcept {
  if (empty() || given.size() > longest_compared) return false;
  if (bytes_->is_text) return same_bytes(given, reveal());
  const Digest found = digest_of(std::span<const char, sizeof(Salt)>{bytes_->begin, sizeof(Salt)}, given);
  return same_bytes({reinterpret_cast<const char*>(found.data()), found.size()},
                    {bytes_->begin + sizeof(Salt), sizeof(Digest)});
}

bool same_bytes(std::string_view given, std::string_view wanted) noexcept {
  unsigned difference = given.size() == wanted.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size() && !wanted.empty(); ++i)
    difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(wanted[i % wanted.size()]);
  return difference == 0;
}

void clear_bytes(std::span<char> bytes) noexcept {
  if (!bytes.empty()) ::explicit_bzero(bytes.data(), bytes.size());  // explicit_bzero takes no null pointer
}

void clear_text(std::string& text) noexcept {
  text.resize(text.capacity());
  clear_bytes(text);
  text.clear();
}

std::string name_of_secret(std::string_view text) {
  static const Secret key = [] {
    Salt random = random_salt();
    Secret made{std::string_view{random.data(), random.size()}};
    ::explicit_bzero(random.data(), random.size());
    return made;
  }();
  return hexadecimal(
      text_of_bytes(digest_of(std::span<const char, sizeof(Salt)>{key.reveal().data(), sizeof(Salt)}, text)));
}

namespace {

struct EnvironmentSecrets {
  std::mutex mutex;
  bool hidden = false;
  std::map<std::string, Secret> known;

  static EnvironmentSecrets& get() {
    static EnvironmentSecrets& all = *new EnvironmentSecrets;
    return all;
  }
  static char* value_of(const std::string& name) noexcept {
    return std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): no thread changes it
  }
  static void clear(const std::string& name) noexcept {
    if (char* const value = value_of(name); value != nullptr) ::explicit_bzero(value, std::strlen(value));
  }
};

}  // namespace

Secret environment_secret(const std::string& name) {
  EnvironmentSecrets& all = EnvironmentSecrets::get();
  const std::lock_guard lock{all.mutex};
  const char* const value = EnvironmentSecrets::value_of(name);
  if (value == nullptr) {
    all.known.erase(name);
    return {};
  }
  if (*value == '\0') {
    const auto before = all.known.find(name);
    return all.hidden && before != all.known.end() ? before->second : Secret{};
  }
  Secret secret{value};
  all.known[name] = secret;
  if (all.hidden) EnvironmentSecrets::clear(name);
  return secret;
}

void hide_environment_secrets() {
  EnvironmentSecrets& all = EnvironmentSecrets::get();
  const std::lock_guard lock{all.mutex};
  all.hidden = true;
  for (const auto& [name, secret] : all.known) EnvironmentSecrets::clear(name);
}

}  // namespace nfx
