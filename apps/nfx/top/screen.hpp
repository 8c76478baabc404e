// A terminal that lines are drawn on and keys come from.
// Thread: one. Lifetime: the terminal is as before when the screen is destroyed. Errors: make_screen() throws
// std::runtime_error for a terminal that cannot be used; in a build without ncurses always, naming the package.
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
  // Waits for a key, or until this descriptor can be read.
  [[nodiscard]] virtual std::optional<Key> key(int descriptor) = 0;
};

[[nodiscard]] std::unique_ptr<Screen> make_screen(bool colours);

}  // namespace nfx::app::top
