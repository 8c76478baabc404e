// A day of ITCH in the format of a file, with a length before every message; and the same in packets of MoldUDP64.
// Thread: any. Cost: some hundred ns per message; allocates. Errors: std::runtime_error, which names the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace nfx::bench {

struct ItchDayOptions {
  std::uint64_t seed = 1;
  std::uint64_t messages = 1'000'000;
  std::uint16_t stocks = 8000;
};

[[nodiscard]] std::vector<std::byte> generate_itch_day(const ItchDayOptions& options);

[[nodiscard]] std::vector<std::byte> read_whole_file(const std::string& file);
void write_whole_file(const std::string& file, std::span<const std::byte> bytes);

// Packets of 1 to 15 messages, like a feed in busy times.
class MoldPackets {
 public:
  explicit MoldPackets(std::span<const std::byte> day, std::uint64_t seed = 1);

  [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }
  [[nodiscard]] std::span<const std::byte> operator[](std::size_t i) const noexcept {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::span{bytes_}.subspan(begin, ends_[i] - begin);
  }

 private:
  std::vector<std::byte> bytes_;
  std::vector<std::size_t> ends_;
};

}  // namespace nfx::bench
