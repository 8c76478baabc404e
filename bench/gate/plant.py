"""Plants a slowdown: adds work to the function that a row measures, until the row takes 5% longer.

The work is a chain of multiplications whose result, always 0, is added to what the function goes on with. How many it
takes is in the program's data, where set_steps() changes it: the processor does some of them while it does other work,
so compare.py measures how many make 5%, each time against the unchanged program.
"""

import re
from dataclasses import dataclass

SHARE = 0.05
MARK = 0x21444554_4E414C50  # "PLANTED!"

CHAIN = f"""#include <cstdint>
namespace {{
volatile std::uint64_t planted_steps[2] = {{{MARK:#x}, 0}};
[[gnu::noinline]] std::uint64_t planted() noexcept {{
  const std::uint64_t steps = planted_steps[1];
  std::uint64_t hash = 0xCBF29CE484222325;
  for (std::uint64_t i = 0; i < steps; ++i) hash = (hash ^ i) * 0x100000001B3;
  return hash & (steps >> 63);
}}
}}  // namespace
"""


@dataclass
class Place:
    file: str
    signature: str  # the function's beginning, up to and including "{"; white space matches any
    code: str  # what follows it, with planted() in it
    rename: str = ""  # a parameter that `code` declares anew


PLACES = {
    "parse": Place(
        "src/fix/wire/message_view.cpp",
        "WireError MessageView::parse(std::string_view message) noexcept {",
        "message = {message.data() + planted(), message.size()};",
    ),
    "encode": Place(
        "src/fix/wire/encoder.cpp",
        "void Encoder::begin(HeaderTemplate& header, std::string_view msg_type, SeqNum seq, UtcTime now) noexcept {",
        "seq = SeqNum{value(seq) + planted()};",
    ),
    "session": Place(
        "src/fix/session/receive.cpp",
        "void Session::on_message(const MessageView& message, Instant now, Actions& out) noexcept {",
        "const MessageView& message = *(&message_given + planted());",
        rename="message",
    ),
    "send": Place(
        "src/fix/session/send.cpp",
        "std::expected<SeqNum, SendError> Session::send(const Outgoing& message, Instant now, Actions& out) noexcept {",
        "const Outgoing& message = *(&message_given + planted());",
        rename="message",
    ),
    "store": Place(
        "src/engine/store/journal_store.cpp",
        "bool JournalStore::append(SeqNum seq, std::string_view bytes, UtcTime now) noexcept {",
        "seq = SeqNum{value(seq) + planted()};",
    ),
    "transport": Place(
        "src/engine/transport/epoll_transport.cpp",
        "SendResult EpollTransport::try_send(ConnectionId id, std::span<const char> bytes) noexcept {",
        "bytes = {bytes.data() + planted(), bytes.size()};",
    ),
}


def names():
    return list(PLACES)


def apply(row, folder):
    """Changes the tree in `folder`; says where. Raises ValueError where the function is no longer found."""
    place = PLACES[row]
    path = folder / place.file
    text = path.read_text()
    pattern = r"\s+".join(re.escape(word) for word in place.signature.split())
    found = re.search(pattern, text)
    if found is None:
        raise ValueError(f"{place.file} has no longer '{place.signature}': change bench/gate/plant.py")
    signature = found[0]
    if place.rename:
        signature = re.sub(rf"\b{place.rename}(?=,)", f"{place.rename}_given", signature, count=1)
    path.write_text(CHAIN + text[: found.start()] + signature + "\n  " + place.code + text[found.end() :])
    return place.signature.split("(")[0].split()[-1]


def set_steps(program, copy, steps):
    """Writes a copy of a planted program that does so many steps of work."""
    mark = MARK.to_bytes(8, "little")
    content = program.read_bytes()
    if content.count(mark) != 1:
        raise ValueError(f"{program} is not a planted program")
    at = content.index(mark) + len(mark)
    copy.write_bytes(content[:at] + steps.to_bytes(8, "little") + content[at + 8 :])
    copy.chmod(0o755)
    return copy
