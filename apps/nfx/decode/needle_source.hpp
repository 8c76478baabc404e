// The messages of a plain log that contain one of some texts, without reading the others: a log of gigabytes is
// searched at the speed of its memory, on all processors.
// Thread: one owner; searches on threads of its own. Cost: one pass over the file for all needles, in pieces that fit
// into a cache. Lifetime: as of MessageSource. Errors: std::runtime_error if the file cannot be mapped.
#pragma once

#include <memory>

#include "decode/log_reader.hpp"

namespace nfx::app {

// Empty if this cannot be done: the log is compressed, or not a file, or shows messages in another form, or a needle is
// so short that most of the log contains it, or has characters that logs escape.
[[nodiscard]] std::unique_ptr<MessageSource> open_needle_source(const LogFile& file, const Needles& needles,
                                                                const LogReaderHooks& hooks);

}  // namespace nfx::app
