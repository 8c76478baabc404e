// QuickFIX's acceptor with a FileStore for each of N sessions, for comparison. C++14, because QuickFIX's headers
// require it.
#pragma once

#include <memory>
#include <string>

namespace nfx {
namespace bench {

// Listens from construction to destruction.
class QuickFixAcceptor {
 public:
  virtual ~QuickFixAcceptor() = default;
};

// Null in builds without QuickFIX. Throws std::exception.
std::unique_ptr<QuickFixAcceptor> make_quickfix_acceptor(const std::string& folder, unsigned sessions, int port);

}  // namespace bench
}  // namespace nfx
