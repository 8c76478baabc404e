// A terminal for drawing lines and reading keys.
// Thread: one. Lifetime: the destructor restores the terminal. Errors: make_screen() throws std::runtime_error for an
// unusable terminal; without ncurses always, naming the package.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "top/frame.hpp"

namespace nfx::app::top {

class Screen {
 public:
  virtual ~Screen() = default;
  [[nodiscard]] virtual Size size() const = 0;
  virtual void draw(const std::vector<Line>& lines) = 0;
  // Waits for a key, or until this descriptor is readable.
  [[nodiscard]] virtual std::optional<Key> key(int descriptor) = 0;
};

[[nodiscard]] std::unique_ptr<Screen> make_screen(bool colours);

}  // namespace nfx::app::top
