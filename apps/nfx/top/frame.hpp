// Draws a snapshot for a terminal of a given size: a function of its arguments. Every line has at most as many bytes as
// the terminal has columns, and only printable ASCII, whatever the engine or its peers sent.
// Thread: any, no state. Cost: allocates. Errors: none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "top/snapshot.hpp"
#include "top/view.hpp"

namespace nfx::app::top {

enum class Look : std::uint8_t { normal, title, heading, selected, alarm, faint };

struct Line {
  std::string text;
  Look look = Look::normal;
};

[[nodiscard]] std::vector<Line> frame_of(const Snapshot& snapshot, const ViewState& state, Size size);

// The size of a printed frame if a terminal or $COLUMNS gives `columns`. Session names are printed whole, and the other
// columns as with short names, so lines with longer names exceed `columns`.
[[nodiscard]] Size printed_size(const Snapshot& snapshot, const ViewState& state, std::size_t columns);

// `text` as one line: control characters as \xNN, and other characters outside ASCII as question marks, so that each
// byte takes one column.
[[nodiscard]] std::string one_line(std::string_view text);

}  // namespace nfx::app::top
