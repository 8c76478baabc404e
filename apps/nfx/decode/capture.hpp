// FIX messages in captures of packets, pcap and pcapng, as tcpdump and Wireshark write them. The time of a message is
// that of the packet that completes it, and its line the number of that packet.
// Thread: one owner. Cost: of TcpMessages. Lifetime: as of MessageSource. Errors: std::runtime_error for a file that is
// not a capture, or of a kind of network that is not known; a capture that is cut off ends with a note. In a program
// built without libpcap, open_capture() throws and names the package.
#pragma once

#include <memory>
#include <string_view>

#include "decode/log_reader.hpp"

namespace nfx::app {

// `first`: what was already read of the bytes.
[[nodiscard]] std::unique_ptr<MessageSource> open_capture(std::unique_ptr<ByteStream> bytes, std::string_view first,
                                                          const LogFile& file, const LogReaderHooks& hooks);

}  // namespace nfx::app
