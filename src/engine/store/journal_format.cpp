// Names and checks of the journal's format.
#include "store/journal_format.hpp"

#include <algorithm>

#include "store/journal_bytes.hpp"
#include "store/journal_store.hpp"

namespace nfx {

namespace {
constexpr char segment_magic[8] = {'N', 'F', 'X', 'J', 'R', 'N', 'L', '1'};
constexpr std::uint32_t segment_version = 1;
}  // namespace

std::string_view to_string(RecordKind kind) noexcept {
  switch (kind) {
    case RecordKind::none: return "none";
    case RecordKind::message: return "message";
    case RecordKind::next_inbound: return "next_inbound";
    case RecordKind::next_outbound: return "next_outbound";
    case RecordKind::reset: return "reset";
    case RecordKind::opened: return "opened";
    case RecordKind::closed: return "closed";
  }
  return "unknown";
}

std::string_view to_string(Durability durability) noexcept {
  switch (durability) {
    case Durability::none: return "none";
    case Durability::interval: return "interval";
    case Durability::group: return "group";
    case Durability::message: return "message";
    case Durability::replicated: return "replicated";
    case Durability::async: return "async";
  }
  return "unknown";
}

std::string_view to_string(Archive archive) noexcept {
  switch (archive) {
    case Archive::keep: return "keep";
    case Archive::remove: return "remove";
  }
  return "unknown";
}

std::string_view to_string(StoreCondition condition) noexcept {
  switch (condition) {
    case StoreCondition::good: return "good";
    case StoreCondition::busy: return "busy";
    case StoreCondition::full: return "full";
    case StoreCondition::failed: return "failed";
  }
  return "unknown";
}

namespace detail {

namespace {

// Every version has magic, version, identity and checksum in these places, so that a journal of a later version is
// recognised.
bool is_header(const SegmentHeader& header) noexcept {
  return std::equal(std::begin(segment_magic), std::end(segment_magic), header.magic) &&
         header.identity_size <= SegmentHeader::max_identity && header.crc == header_crc(header);
}

}  // namespace

bool header_is_whole(const SegmentHeader& header) noexcept {
  return is_header(header) && header.version == segment_version && header.header_size == segment_header_size &&
         header.capacity % record_alignment == 0 &&
         (header.base == unset_position || header.base % record_alignment == 0);
}

bool is_of_another_version(const SegmentHeader& header) noexcept {
  return is_header(header) && header.version != segment_version;
}

std::string another_version_text(const SegmentHeader& header) {
  return "the journal has format version " + std::to_string(header.version) + ", and this program reads version " +
         std::to_string(segment_version) + "; use the release of NexusFIX that wrote it, or a later one";
}

SegmentHeader make_header(std::uint64_t ordinal, std::uint64_t capacity, std::string_view identity) noexcept {
  SegmentHeader header{};
  std::copy(std::begin(segment_magic), std::end(segment_magic), header.magic);
  header.version = segment_version;
  header.header_size = segment_header_size;
  header.ordinal = ordinal;
  header.capacity = capacity;
  header.base = unset_position;
  header.next_inbound = 1;
  header.next_outbound = 1;
  header.identity_size = static_cast<std::uint32_t>(std::min(identity.size(), SegmentHeader::max_identity));
  std::copy_n(identity.data(), header.identity_size, header.identity);
  header.crc = header_crc(header);
  return header;
}

// FNV-1a with its bits mixed, because texts that differ only at the end would share most hash bits.
std::uint64_t stable_hash(std::string_view text) noexcept {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  hash = (hash ^ (hash >> 33)) * 0xFF51AFD7ED558CCD;
  return hash ^ (hash >> 33);
}

}  // namespace detail
}  // namespace nfx
