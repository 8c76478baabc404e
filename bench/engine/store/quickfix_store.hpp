// QuickFIX's FileStore from the distribution's package, with an interface that compiles as C++14 and as C++23.
// Thread: one owner. Errors: its exceptions end the benchmark.
#pragma once

#include <memory>
#include <string>

namespace nfx {
namespace bench {

class QuickFixStore {
 public:
  QuickFixStore() = default;
  QuickFixStore(const QuickFixStore&) = delete;
  QuickFixStore& operator=(const QuickFixStore&) = delete;
  virtual ~QuickFixStore() = default;
  // The same steps as its session for each sent message: stores it, then increments the number.
  virtual void append(int seq, const std::string& bytes) = 0;
  virtual std::string read(int seq) = 0;
};

// Null if the benchmark was built without QuickFIX.
std::unique_ptr<QuickFixStore> make_quickfix_store(const std::string& folder);

}  // namespace bench
}  // namespace nfx
