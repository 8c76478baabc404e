// Draws nested boxes: packages and NUMA nodes, caches, cores, hardware threads, and the devices of each node. The size
// of every box is computed before drawing, and boxes wrap into rows like words.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "host/topology_print.hpp"

namespace nfx {
namespace {

constexpr int margin = 14, gap = 8, line = 18, page_width = 1240;

// Browsers use the dark colours on dark pages; programs without media queries keep the light ones.
constexpr std::string_view style =
    "text{font:11px system-ui,'DejaVu Sans',sans-serif;fill:#1c2733}"
    ".t{font-size:16px;font-weight:600}.h{font-weight:600}.s{fill:#5b6875}.m{text-anchor:middle}"
    ".page{fill:#fff}.block{fill:#f3f5f8;stroke:#9aa7b4}.cache{fill:#e6eaf0;stroke:#b7c1cc}"
    ".core{fill:#fff;stroke:#8493a3}.pu{fill:#dfe6ee}.housekeeping{fill:#b9d4f1}.isolated{fill:#d3ecd0}.spin{fill:#"
    "4caf6d}"
    ".barred{fill:#e9e1e1;stroke:#a86b6b;stroke-dasharray:3 2}"
    ".gpu{fill:#e9e0f7;stroke:#8a6cc0}.network{fill:#fdebc8;stroke:#c9952f}.storage{fill:#e4e4df;stroke:#8d8d80}"
    ".dead{fill:none;stroke:#9aa7b4;stroke-dasharray:3 2}.p{font-weight:600;fill:#08200f}"
    "@media (prefers-color-scheme:dark){text{fill:#e4eaf0}.s{fill:#9fadba}.page{fill:#12171d}"
    ".block{fill:#1a212a;stroke:#556270}.cache{fill:#222c37;stroke:#4a5764}.core{fill:#12171d;stroke:#66757f}"
    ".pu{fill:#2d3947}.housekeeping{fill:#234a75}.isolated{fill:#24482b}.spin{fill:#4caf6d}.barred{fill:#3a2a2a}"
    ".gpu{fill:#35274f}.network{fill:#4d3a12}.storage{fill:#33332d}.p{fill:#08200f}}";

constexpr std::array<std::string_view, 8> group_colours{"#3f7fd0", "#d0643f", "#3fa08c", "#b04fa0",
                                                        "#8f9c2f", "#c23b5a", "#6d5ad0", "#a9762c"};

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: {
        // XML allows no control characters, and one byte that is not UTF-8 would make the whole picture unreadable.
        const auto byte = static_cast<unsigned char>(c);
        out += byte < 0x20 || byte >= 0x7f ? '?' : c;
      }
    }
  }
  return out;
}

struct Size {
  int width = 0;
  int height = 0;
};

int text_width(std::string_view text) { return static_cast<int>(text.size()) * 13 / 2; }

class Canvas {
 public:
  void rect(int x, int y, Size size, std::string_view kind, std::string_view tip = {}) {
    out_ += "<rect class=\"" + std::string{kind} + '"' + at("x", x) + at("y", y) + at("width", size.width) +
            at("height", size.height) + " rx=\"3\"";
    out_ += tip.empty() ? "/>\n" : "><title>" + escape(tip) + "</title></rect>\n";
  }
  void stripe(int x, int y, Size size, std::string_view colour) {
    out_ += "<rect fill=\"" + std::string{colour} + '"' + at("x", x) + at("y", y) + at("width", size.width) +
            at("height", size.height) + "/>\n";
  }
  void text(int x, int y, std::string_view words, std::string_view kind = {}) {
    out_ += "<text" + (kind.empty() ? std::string{} : " class=\"" + std::string{kind} + '"') + at("x", x) + at("y", y) +
            '>' + escape(words) + "</text>\n";
  }
  [[nodiscard]] std::string page(Size size, std::string_view title) const {
    return "<svg xmlns=\"http://www.w3.org/2000/svg\"" + at("width", size.width) + at("height", size.height) +
           " viewBox=\"0 0 " + std::to_string(size.width) + ' ' + std::to_string(size.height) + "\" role=\"img\">\n" +
           "<title>" + escape(title) + "</title>\n<style>" + std::string{style} + "</style>\n" +
           "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n" + out_ + "</svg>\n";
  }

 private:
  static std::string at(std::string_view name, int value) {
    return ' ' + std::string{name} + "=\"" + std::to_string(value) + '"';
  }
  std::string out_;
};

// Places boxes side by side and starts a new row when a row is full.
class Flow {
 public:
  explicit Flow(int width) : width_(width) {}

  // The position of the next box of this size, relative to the flow's own corner.
  std::pair<int, int> place(Size size) {
    if (x_ > 0 && x_ + size.width > width_) {
      y_ += row_ + gap;
      x_ = row_ = 0;
    }
    const std::pair<int, int> where{x_, y_};
    x_ += size.width + gap;
    row_ = std::max(row_, size.height);
    used_ = std::max(used_, x_ - gap);
    return where;
  }
  [[nodiscard]] Size size() const { return {used_, y_ + row_}; }

 private:
  int width_;
  int x_ = 0;
  int y_ = 0;
  int row_ = 0;
  int used_ = 0;
};

std::string memory_text(std::uint64_t bytes) {
  if (bytes == 0) return {};
  const std::uint64_t mib = bytes >> 20U;
  if (mib >= 10240 || (mib >= 1024 && mib % 1024 == 0)) return std::to_string((mib + 512) / 1024) + " GiB";
  return mib == 0 ? std::to_string(bytes >> 10U) + " KiB" : std::to_string(mib) + " MiB";
}

// Cores that share a cache, or devices that share a switch.
struct CacheBox {
  std::string title;  // empty: no frame
  std::vector<const Core*> cores;
};

struct DeviceRow {
  std::string title;
  std::size_t colour = 0;                                  // colour of its group; group_colours.size(): none
  std::vector<std::pair<std::string, std::string>> chips;  // class and text
};

struct Block {
  std::string title;
  std::vector<CacheBox> caches;
  std::vector<DeviceRow> rows;
};

class Picture {
 public:
  Picture(const Topology& topology, const PlacementPlan* plan) : topology_(topology), plan_(plan) {
    if (plan != nullptr) {
      for (const ThreadPlacement& thread : plan->threads) {
        if (thread.cpus.size() == 1) names_[thread.cpus.first()].push_back(thread.name);
      }
    }
    const std::vector<DeviceGroup> groups = group_devices(topology);
    for (std::size_t i = 0; groups.size() > 1 && i < groups.size(); ++i) {
      domain_colours_[groups[i].domain] = i % group_colours.size();
      for (const int cpu : groups[i].cpus) core_colours_[cpu] = i % group_colours.size();
    }
    std::size_t longest = 0;
    for (const auto& [cpu, names] : names_) longest = std::max(longest, label(names).size());
    cell_width_ = longest == 0 ? 40 : 40 + text_width(std::string(longest, 'x'));
    collect();
  }

  [[nodiscard]] std::string draw() {
    Canvas canvas;
    std::string title =
        topology_.machine.empty() ? topology_.source : topology_.machine + " (" + topology_.source + ')';
    canvas.text(margin, margin + 14, title, "t");
    canvas.text(margin, margin + 32, summary(), "s");
    const int top = margin + 46;
    Flow flow{page_width - 2 * margin};
    for (const Block& block : blocks_) {
      const Size size = size_of(block);
      const auto [x, y] = flow.place(size);
      draw_block(canvas, margin + x, top + y, size, block);
    }
    const int bottom = draw_legend(canvas, top + flow.size().height + gap + line);
    const int width = std::max({flow.size().width, 760, text_width(title) * 3 / 2, text_width(summary())});
    return canvas.page({width + 2 * margin, bottom + margin}, "Topology of " + title);
  }

 private:
  static std::string label(const std::vector<std::string>& names) {
    return names.front() + (names.size() > 1 ? " +" + std::to_string(names.size() - 1) : "");
  }

  [[nodiscard]] std::string summary() const {
    std::string out = topology_.cpu_model + (topology_.cpu_model.empty() ? "" : ", ") +
                      std::to_string(topology_.online.size()) + " CPUs in " + std::to_string(topology_.cores.size()) +
                      " cores";
    if (!topology_.offline.empty()) out += ", offline: " + topology_.offline.to_list();
    return out;
  }

  void collect() {
    std::map<std::tuple<int, int>, std::map<int, CacheBox>> boxes;  // by package and node, then by cache
    for (const Core& core : topology_.cores) {
      // A cache of a single core needs no frame.
      const bool shared = core.cache >= 0 && !core.cpus.contains_all(cache(core.cache).cpus);
      CacheBox& box = boxes[{core.package, core.numa_node}][shared ? core.cache : -1];
      box.cores.push_back(&core);
      if (!shared) continue;
      box.title = 'L' + std::to_string(cache(core.cache).level) + ' ' + memory_text(cache(core.cache).size_bytes);
    }
    std::map<int, bool> shown;
    for (auto& [key, caches] : boxes) {
      const auto [package, node] = key;
      Block block{.title = block_title(package, node), .caches = {}, .rows = {}};
      for (auto& [number, box] : caches) block.caches.push_back(std::move(box));
      if (!std::exchange(shown[node], true)) block.rows = device_rows(node);
      blocks_.push_back(std::move(block));
    }
    for (const NumaNode& node : topology_.nodes) {
      if (!shown[node.number]) blocks_.push_back({block_title(-1, node.number), {}, device_rows(node.number)});
    }
    if (auto rows = device_rows(-1); !shown[-1] && !rows.empty()) {
      blocks_.push_back({"NUMA node not known", {}, std::move(rows)});
    }
  }

  [[nodiscard]] const CacheDomain& cache(int index) const { return topology_.caches[static_cast<std::size_t>(index)]; }

  [[nodiscard]] std::string block_title(int package, int number) const {
    std::string out = package < 0 ? std::string{} : "Package " + std::to_string(package) + ", ";
    out += number < 0 ? std::string{"NUMA node not known"} : "NUMA node " + std::to_string(number);
    const NumaNode* node = topology_.node(number);
    if (node == nullptr) return out;
    if (const std::string memory = memory_text(node->memory_bytes); !memory.empty()) out += ", " + memory;
    if (node->cpus.empty()) out += ", no CPUs";
    return out;
  }

  [[nodiscard]] std::vector<DeviceRow> device_rows(int node) const {
    std::map<std::string, DeviceRow> rows;
    std::map<std::string, std::size_t> dead;
    for (const DeviceKind kind : {DeviceKind::gpu, DeviceKind::network, DeviceKind::storage}) {
      for (const Device& device : topology_.devices) {
        if (device.kind != kind || device.numa_node != node) continue;
        DeviceRow& row = rows[device.pci_switch];
        if (!device.usable) {
          ++dead[device.pci_switch];
          continue;
        }
        row.chips.emplace_back(to_string(kind), device.name);
      }
    }
    std::vector<DeviceRow> out;
    for (auto& [bridge, row] : rows) {
      row.title = bridge.empty() ? "no switch" : "switch " + bridge;
      const std::string domain = !bridge.empty() ? bridge
                                 : node >= 0     ? "NUMA node " + std::to_string(node)
                                                 : std::string{"unknown"};
      const auto colour = domain_colours_.find(domain);
      row.colour = colour == domain_colours_.end() ? group_colours.size() : colour->second;
      if (dead[bridge] > 0) row.chips.emplace_back("dead", std::to_string(dead[bridge]) + " not usable");
      out.push_back(std::move(row));
    }
    return out;
  }

  // Sizes.

  [[nodiscard]] int columns(const CacheBox& box) const {
    const int most = (page_width - 2 * margin - 6 * gap) / (cell_width_ + gap / 2);
    const auto cores = static_cast<int>(box.cores.size());
    if (cores <= std::min(8, most)) return cores;
    // Makes all rows the same length.
    const int rows = (cores + std::min(most, 16) - 1) / std::min(most, 16);
    return (cores + rows - 1) / rows;
  }

  static int cell_height(const CacheBox& box) {
    std::size_t threads = 1;
    for (const Core* core : box.cores) threads = std::max(threads, core->cpus.size());
    return static_cast<int>(threads) * line + 8;
  }

  [[nodiscard]] Size size_of(const CacheBox& box) const {
    const int across = columns(box);
    const int down = (static_cast<int>(box.cores.size()) + across - 1) / across;
    const int frame = box.title.empty() ? 0 : gap;
    return {across * (cell_width_ + gap / 2) - gap / 2 + 2 * frame,
            down * (cell_height(box) + gap / 2) - gap / 2 + 2 * frame + (box.title.empty() ? 0 : line - gap / 2)};
  }

  static constexpr int row_indent = 150;

  [[nodiscard]] Flow chips_of(const DeviceRow& row) const {
    Flow flow{page_width - 4 * margin - row_indent};
    for (const auto& [kind, text] : row.chips) flow.place({text_width(text) + 14, line});
    return flow;
  }

  [[nodiscard]] Size size_of(const Block& block) const {
    Flow flow{page_width - 2 * margin - 2 * gap};
    for (const CacheBox& box : block.caches) flow.place(size_of(box));
    Size size = flow.size();
    size.width = std::max(size.width, text_width(block.title));
    size.height += line + 2 * gap;
    for (const DeviceRow& row : block.rows) {
      const Size chips = chips_of(row).size();
      size.width = std::max(size.width, chips.width + row_indent);
      size.height += std::max(chips.height, line) + gap;
    }
    return {size.width + 2 * gap, size.height};
  }

  // Drawing.

  void draw_block(Canvas& canvas, int x, int y, Size size, const Block& block) const {
    canvas.rect(x, y, size, "block");
    canvas.text(x + gap, y + line - 3, block.title, "h");
    int top = y + line + gap / 2;
    Flow flow{page_width - 2 * margin - 2 * gap};
    for (const CacheBox& box : block.caches) {
      const auto [dx, dy] = flow.place(size_of(box));
      draw_cache(canvas, x + gap + dx, top + dy, box);
    }
    top += flow.size().height + gap;
    for (const DeviceRow& row : block.rows) {
      if (row.colour < group_colours.size()) canvas.stripe(x + gap, top, {4, line}, group_colours[row.colour]);
      canvas.text(x + gap + 10, top + line - 5, row.title, "s");
      Flow chips{page_width - 4 * margin - row_indent};
      for (const auto& [kind, text] : row.chips) {
        const Size chip{text_width(text) + 14, line};
        const auto [dx, dy] = chips.place(chip);
        canvas.rect(x + gap + row_indent + dx, top + dy, chip, kind);
        canvas.text(x + gap + row_indent + dx + chip.width / 2, top + dy + line - 5, text, "m");
      }
      top += std::max(chips.size().height, line) + gap;
    }
  }

  void draw_cache(Canvas& canvas, int x, int y, const CacheBox& box) const {
    if (!box.title.empty()) {
      canvas.rect(x, y, size_of(box), "cache");
      canvas.text(x + gap, y + line - 5, box.title, "s");
      x += gap;
      y += line + gap / 2;
    }
    const int across = columns(box), height = cell_height(box);
    for (std::size_t i = 0; i < box.cores.size(); ++i) {
      const auto index = static_cast<int>(i);
      draw_core(canvas, x + index % across * (cell_width_ + gap / 2), y + index / across * (height + gap / 2), height,
                *box.cores[i]);
    }
  }

  void draw_core(Canvas& canvas, int x, int y, int height, const Core& core) const {
    canvas.rect(x, y, {cell_width_, height}, "core",
                core.kind < 0 ? std::string{} : "kind " + std::to_string(core.kind));
    const std::vector<int> cpus = core.cpus.members();
    for (const int cpu : cpus) {
      if (const auto colour = core_colours_.find(cpu); colour != core_colours_.end()) {
        canvas.stripe(x + 1, y + 1, {cell_width_ - 2, 3}, group_colours[colour->second]);
      }
    }
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      const int top = y + 5 + static_cast<int>(i) * line;
      const auto planned = names_.find(cpus[i]);
      std::string tip = "CPU " + std::to_string(cpus[i]);
      if (planned != names_.end()) {
        for (const std::string& name : planned->second) tip += ", " + name;
      }
      canvas.rect(x + 3, top, {cell_width_ - 6, line - 2}, class_of(cpus[i]), tip);
      if (planned == names_.end()) {
        canvas.text(x + cell_width_ / 2, top + line - 6, std::to_string(cpus[i]), "m");
      } else {
        canvas.text(x + 8, top + line - 6, std::to_string(cpus[i]) + "  " + label(planned->second), "p");
      }
    }
  }

  [[nodiscard]] std::string_view class_of(int cpu) const {
    if (names_.contains(cpu)) return "spin";
    if (!topology_.allowed.contains(cpu)) return "barred";
    if (plan_ == nullptr) return "pu";
    if (plan_->isolated_cpus.contains(cpu)) return "isolated";
    return plan_->housekeeping.contains(cpu) ? "housekeeping" : "pu";
  }

  // Returns the bottom of the legend.
  [[nodiscard]] int draw_legend(Canvas& canvas, int y) const {
    int x = margin;
    const auto entry = [&](std::string_view kind, std::string_view text) {
      canvas.rect(x, y - 11, {22, 14}, kind);
      canvas.text(x + 28, y, text);
      x += 28 + text_width(text) + 24;
    };
    if (plan_ != nullptr) {
      entry("spin", "pinned thread");
      entry("isolated", "isolated");
      entry("housekeeping", "housekeeping");
    } else {
      entry("pu", "CPU");
    }
    if (topology_.allowed != topology_.online) entry("barred", "not allowed here");
    if (!domain_colours_.empty()) {
      canvas.stripe(x, y - 6, {22, 3}, group_colours[0]);
      canvas.text(x + 28, y, "cores and devices of one group");
    }
    if (plan_ == nullptr) return y;
    y += line + 4;
    canvas.text(margin, y, "Plan " + plan_->hash + (plan_->refused() ? ", refused" : ""), "h");
    for (const ThreadPlacement& thread : plan_->threads) {
      if (thread.cpus.size() == 1) continue;
      y += line - 2;
      canvas.text(margin, y, thread.name + ": any of CPU " + thread.cpus.to_list(), "s");
    }
    return y;
  }

  const Topology& topology_;
  const PlacementPlan* plan_;
  std::map<int, std::vector<std::string>> names_;  // of threads, by the CPU they are pinned to
  std::map<std::string, std::size_t> domain_colours_;
  std::map<int, std::size_t> core_colours_;  // by first hardware thread
  std::vector<Block> blocks_;
  int cell_width_ = 40;
};

}  // namespace

std::string to_svg(const Topology& topology, const PlacementPlan* plan) { return Picture{topology, plan}.draw(); }

}  // namespace nfx
