// Fuzz target for the header of the PROXY protocol. Requires that the result is the same however the bytes arrive: once
// it is not incomplete, it does not change with more bytes. A complete header has the bounds and the form that its
// users rely on, and contains only an address and a port, which are logged.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz_target.hpp"
#include "transport/proxy_header.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 100000, .max_input_size = 256};

namespace {

using nfx::ProxyHeader;
using nfx::fuzz::require;
using Status = ProxyHeader::Status;

void check_complete(const ProxyHeader& header, std::string_view bytes) {
  require(header.size <= std::min(bytes.size(), nfx::longest_proxy_header), "a header is within its bound", bytes);
  const std::string_view line = bytes.substr(0, header.size);
  require(line.starts_with("PROXY TCP") && line.ends_with("\r\n"), "a header is one line of the protocol", bytes);
  require(line.find("\r\n") == line.size() - 2, "a header ends with its first line end", bytes);
  constexpr std::string_view of_an_address = "0123456789abcdefABCDEF.:[]";
  require(!header.peer.empty() && header.peer.find_first_not_of(of_an_address) == std::string_view::npos,
          "the peer is an address and a port", bytes);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = nfx::fuzz::text_of(data, size);
  const ProxyHeader at_once = nfx::read_proxy_header(bytes);
  for (std::size_t some = 0; some < bytes.size(); ++some) {
    const ProxyHeader header = nfx::read_proxy_header(bytes.substr(0, some));
    if (header.status == Status::incomplete) continue;
    require(header.status == at_once.status && header.size == at_once.size && header.peer == at_once.peer,
            "more bytes do not change what was read", bytes);
  }
  switch (at_once.status) {
    case Status::absent: require(!bytes.starts_with("PROXY "), "a line of the protocol is not absent", bytes); break;
    case Status::incomplete:
      require(bytes.size() < nfx::longest_proxy_header, "what is too long is not incomplete", bytes);
      break;
    case Status::wrong: break;
    case Status::complete: check_complete(at_once, bytes); break;
  }
  if (at_once.status != Status::complete) require(at_once.peer.empty(), "only a header has a peer", bytes);
  return 0;
}
