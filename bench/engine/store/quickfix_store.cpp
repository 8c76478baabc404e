// QuickFIX's FileStore for comparison, compiled as C++14 because QuickFIX's headers do not compile as C++23.
#include "store/quickfix_store.hpp"

#include <quickfix/FileStore.h>
#include <quickfix/SessionID.h>

#include <vector>

namespace nfx {
namespace bench {

namespace {

class FileStore final : public QuickFixStore {
 public:
  explicit FileStore(const std::string& folder) : store_(folder, FIX::SessionID("FIX.4.4", "US", "THEM")) {}

  void append(int seq, const std::string& bytes) override {
    store_.set(seq, bytes);
    store_.incrNextSenderMsgSeqNum();
  }

  std::string read(int seq) override {
    std::vector<std::string> found;
    store_.get(seq, seq, found);
    return found.empty() ? std::string() : found.front();
  }

 private:
  FIX::FileStore store_;
};

}  // namespace

std::unique_ptr<QuickFixStore> make_quickfix_store(const std::string& folder) {
  return std::unique_ptr<QuickFixStore>(new FileStore(folder));
}

}  // namespace bench
}  // namespace nfx
