// Fuzz target for the choice of frames that lwIP sees. Requires that nothing is read beyond the frame, and that a
// packet of IPv4 is passed on only if it is whole, from another host, and to this one. The input is a frame in
// hexadecimal.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz_target.hpp"
#include "transport/xdp_frame.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 200000, .max_input_size = 400};

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using nfx::detail::FrameKind;
  using nfx::fuzz::require;
  const std::string_view text = nfx::fuzz::text_of(data, size);
  std::vector<char> frame;
  constexpr std::string_view digits = "0123456789abcdef";
  for (std::size_t at = 0; at + 1 < text.size(); at += 2) {
    const std::size_t high = digits.find(text[at]), low = digits.find(text[at + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) break;
    frame.push_back(static_cast<char>(high * 16 + low));
  }
  frame.shrink_to_fit();
  const nfx::detail::Ipv4 own{10, 99, 0, 2};
  const FrameKind kind = nfx::detail::kind_of(frame, own);
  if (kind == FrameKind::other) return 0;
  require(frame.size() >= 42, "a frame has the headers that lwIP reads", text);
  const std::string_view bytes{frame.data(), frame.size()};
  if (bytes.substr(12, 2) == std::string_view{"\x08\x06", 2}) return 0;
  const std::string_view from = bytes.substr(26, 4), to = bytes.substr(30, 4);
  require(bytes.substr(12, 2) == std::string_view{"\x08\0", 2}, "a packet is IPv4", text);
  require(to == std::string_view{"\x0a\x63\0\x02", 4}, "a packet is to this host", text);
  require(from != to, "a packet is from another host", text);
  require((bytes[20] & 0x3f) == 0 && bytes[21] == 0, "a packet is whole", text);
  return 0;
}
