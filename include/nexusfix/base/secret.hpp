// A password, or another text that nobody may read in a core dump. Its bytes are in pages of their own that no core
// contains, and that are not swapped where RLIMIT_MEMLOCK permits. They are cleared with the last copy.
// Thread: a value; copies may be on several threads. Cost: making one takes a mutex, comparing takes some microseconds.
// Lifetime: reveal() is a view of the bytes, which last as long as any copy. Errors: std::system_error without memory.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "nexusfix/base/language.hpp"

namespace nfx {

class Secret {
 public:
  // A longer secret gets no digest, and a longer text matches nothing.
  static constexpr std::size_t longest_compared = 1024;

  Secret() noexcept = default;
  // The caller clears where the text comes from: see clear_text().
  template <class Text>
    requires(!std::same_as<std::remove_cvref_t<Text>, Secret> && std::convertible_to<const Text&, std::string_view>)
  Secret(const Text& text) : Secret(std::string_view{text}, Plain{}) {}  // NOLINT: a text becomes one where it is given

  [[nodiscard]] bool empty() const noexcept { return bytes_ == nullptr; }
  // The text, to send it: never to print it. Empty where only the digest is left.
  [[nodiscard]] std::string_view reveal() const noexcept;
  // Whether this is the text, in a time that depends on the length of `given` alone. An empty secret matches nothing.
  [[nodiscard]] bool matches(std::string_view given) const noexcept;
  // Replaces the text by a salted digest, which is enough to compare. Other copies still have the text.
  void keep_digest();

 private:
  struct Plain {};
  struct Bytes;
  Secret(std::string_view text, Plain);

  std::shared_ptr<const Bytes> bytes_;
};

// Whether they are equal, in a time that depends on the length of `given` alone: every byte of it is compared.
[[nodiscard]] bool same_bytes(std::string_view given, std::string_view wanted) noexcept;

// Overwrites memory that held a secret.
void clear_bytes(std::span<char> bytes) noexcept;
// The same for a text and the space behind it. The text is empty afterwards.
void clear_text(std::string& text) noexcept;

// Overwrites the bytes at the end of its scope.
struct [[nodiscard]] ClearAtEnd {
  std::span<char> bytes;
  ~ClearAtEnd() { clear_bytes(bytes); }
};

// A name for a text of at most longest_compared bytes: 64 hexadecimal digits. Equal texts have equal names as long as
// the process runs. The key of this digest is a Secret, so a core with a name does not help to guess the text.
[[nodiscard]] std::string name_of_secret(std::string_view text);

// The value of an environment variable; empty: there is none. No other thread may change the environment meanwhile.
[[nodiscard]] Secret environment_secret(const std::string& name);
// Clears all values that environment_secret() has returned or will return in the environment, which cores and
// /proc/PID/environ contain. environment_secret() still returns them; getenv() and child processes get empty values.
void hide_environment_secrets();

}  // namespace nfx
