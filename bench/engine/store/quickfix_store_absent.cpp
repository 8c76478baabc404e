// Replaces quickfix_store.cpp in builds without QuickFIX: its rows are left out.
#include "store/quickfix_store.hpp"

namespace nfx {
namespace bench {

std::unique_ptr<QuickFixStore> make_quickfix_store(const std::string&) { return nullptr; }

}  // namespace bench
}  // namespace nfx
