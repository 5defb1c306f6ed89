// SPDX-License-Identifier: Apache-2.0
// The columns may stand in any order; a header names them.
#include "core/config/cabling_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::array<std::string_view, 5> kColumns{"from", "to", "length_m", "loss_db", "label"};
enum Column : std::size_t { kFrom, kTo, kLength, kLoss, kLabel };

constexpr std::int64_t kLongestMetres = 1'000'000;
constexpr std::int64_t kMostLossDb = 100;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view{} : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  while (true) {
    const std::size_t comma = line.find(',');
    cells.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) {
      return cells;
    }
    line.remove_prefix(comma + 1);
  }
}

std::string port_text(const Fabric& fabric, PortRef port) {
  const std::string& name = fabric.element(port.element).name;
  return port.port == 0 ? name : format_text("{}:{}", name, port.port);
}

class CablingReader {
 public:
  CablingReader(const std::filesystem::path& path, Fabric* fabric) : fabric_(fabric), errors_(path.string()) {
    if (fabric_ == nullptr) {
      return;
    }
    for (const Element& element : fabric_->elements) {
      elements_.emplace(element.name, element.id);
    }
    for (const Fibre& fibre : fabric_->fibres) {
      by_from_.emplace(fibre.from, fibre.id);
      by_to_.emplace(fibre.to, fibre.id);
    }
    cabled_.resize(fabric_->fibres.size());
  }

  std::vector<ConfigError> read(std::istream& stream) {
    std::string line;
    while (std::getline(stream, line)) {
      ++line_;
      const std::string_view text = trimmed(line);
      if (text.empty() || text.starts_with('#')) {
        continue;
      }
      if (places_.empty()) {
        read_header(text);
        if (places_.empty()) {
          return errors_.sorted();
        }
      } else {
        read_row(cells_of(text));
      }
    }
    if (places_.empty()) {
      errors_.add(0, 0, "it is empty; expected the header from,to,length_m,loss_db,label and a row a cable");
    }
    for (std::size_t i = 0; !places_.empty() && i < cabled_.size(); ++i) {
      const Fibre& fibre = fabric_->fibres[i];
      if (cabled_[i] == 0) {
        errors_.add(line_ + 1, 1,
                    format_text("no cable from {} to {}, which the fabric has", port_text(*fabric_, fibre.from),
                                port_text(*fabric_, fibre.to)));
      }
    }
    return errors_.sorted();
  }

 private:
  void fault(std::string message) { errors_.add(line_, 1, std::move(message)); }

  void read_header(std::string_view text) {
    const auto names = cells_of(text);
    std::vector<std::size_t> places;
    for (const std::string_view name : names) {
      const auto known = std::ranges::find(kColumns, name);
      if (known == kColumns.end()) {
        fault(format_text("no column is called '{}'; expected from,to,length_m,loss_db,label", name));
        return;
      }
      places.push_back(static_cast<std::size_t>(known - kColumns.begin()));
    }
    for (const Column needed : {kFrom, kTo}) {
      if (std::ranges::count(places, static_cast<std::size_t>(needed)) != 1) {
        fault(format_text("the header needs the column '{}' once", kColumns[needed]));
        return;
      }
    }
    places_ = std::move(places);
  }

  std::optional<PortRef> port_of(std::string_view text, bool is_output) {
    const std::size_t colon = text.find(':');
    const auto element = elements_.find(std::string(text.substr(0, colon)));
    PortNumber port = 0;
    const std::string_view digits = colon == std::string_view::npos ? "0" : text.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (element == elements_.end()) {
      fault(format_text("the fabric has no element '{}'", text.substr(0, colon)));
      return std::nullopt;
    }
    const Element& row = fabric_->element(element->second);
    const PortNumber ports = is_output ? row.outputs : row.inputs;
    if (error != std::errc{} || end != digits.data() + digits.size() || port >= ports) {
      fault(format_text("'{}' is no {} of {}, which has {}, counted from 0", text, is_output ? "output" : "input", row.name,
                        ports));
      return std::nullopt;
    }
    return PortRef{element->second, port};
  }

  std::optional<double> number_of(std::string_view text, Column column, std::int64_t most) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(value >= 0) || value > static_cast<double>(most)) {
      fault(format_text("{}: found '{}'; expected 0 to {}", kColumns[column], text, most));
      return std::nullopt;
    }
    return value;
  }

  void read_row(const std::vector<std::string_view>& cells) {
    if (cells.size() != places_.size()) {
      fault(format_text("{} cells; the header has {}", cells.size(), places_.size()));
      return;
    }
    std::array<std::string_view, kColumns.size()> cell{};
    for (std::size_t i = 0; i < cells.size(); ++i) {
      cell[places_[i]] = cells[i];
    }
    if (!cell[kLabel].empty() && !labels_.insert(std::string(cell[kLabel])).second) {
      fault(format_text("label '{}' is on another cable already", cell[kLabel]));
    }
    const auto length = cell[kLength].empty() ? std::nullopt : number_of(cell[kLength], kLength, kLongestMetres);
    const auto loss = cell[kLoss].empty() ? std::nullopt : number_of(cell[kLoss], kLoss, kMostLossDb);
    if (fabric_ == nullptr) {
      return;
    }
    const auto from = port_of(cell[kFrom], true);
    const auto to = port_of(cell[kTo], false);
    if (from && to) {
      take(*from, *to, length, loss);
    }
  }

  void take(PortRef from, PortRef to, std::optional<double> length, std::optional<double> loss) {
    const auto leaves = by_from_.find(from);
    const auto arrives = by_to_.find(to);
    if (leaves == by_from_.end() || fabric_->fibres[leaves->second.value].to != to) {
      const std::string ours = leaves == by_from_.end()
                                   ? format_text("the fabric has no fibre at output {}", port_text(*fabric_, from))
                                   : format_text("the fabric's fibre from {} leads to {}", port_text(*fabric_, from),
                                                 port_text(*fabric_, fabric_->fibres[leaves->second.value].to));
      const std::string theirs = arrives == by_to_.end()
                                     ? std::string{}
                                     : format_text(", and {} is fed by {}", port_text(*fabric_, to),
                                                   port_text(*fabric_, fabric_->fibres[arrives->second.value].from));
      fault(format_text("a cable from {} to {}; {}{}", port_text(*fabric_, from), port_text(*fabric_, to), ours, theirs));
      return;
    }
    Fibre& fibre = fabric_->fibres[leaves->second.value];
    if (const int earlier = cabled_[fibre.id.value]; earlier != 0) {
      fault(format_text("the cable from {} to {} stands in line {} already", port_text(*fabric_, from), port_text(*fabric_, to),
                        earlier));
    }
    cabled_[fibre.id.value] = line_;
    fibre.length_mm = length ? static_cast<std::int64_t>(*length * 1'000 + 0.5) : fibre.length_mm;
    fibre.loss = loss ? Db{static_cast<std::int32_t>(*loss * 100 + 0.5)} : fibre.loss;
  }

  Fabric* fabric_;
  ErrorList errors_;
  int line_ = 0;
  std::vector<std::size_t> places_;  ///< column of each cell; empty: no header yet
  std::map<std::string, ElementId> elements_;
  std::map<PortRef, FibreId> by_from_;
  std::map<PortRef, FibreId> by_to_;
  std::vector<int> cabled_;  ///< line of each fibre's row; 0: none
  std::set<std::string> labels_;
};

}  // namespace

void apply_cabling(const std::filesystem::path& path, Fabric* fabric, ErrorList& errors) {
  std::ifstream stream(path);
  std::error_code unreadable;
  const auto bytes = std::filesystem::file_size(path, unreadable);
  if (!stream || unreadable) {
    errors.append({{path.string(), 0, 0, "it cannot be read; expected a CSV with a row a cable"}});
    return;
  }
  if (bytes > limits::kConfigFileBytes) {
    errors.append(
        {{path.string(), 0, 0, format_text("it has {} bytes; expected at most {}", bytes, limits::kConfigFileBytes)}});
    return;
  }
  errors.append(CablingReader(path, fabric).read(stream));
}

std::string cabling_of(const Fabric& fabric) {
  std::string text = "from,to,length_m,loss_db,label\n";
  for (const Fibre& fibre : fabric.fibres) {
    text += format_text("{},{},{}.{:03d},{}.{:02d},F{:04d}\n", port_text(fabric, fibre.from), port_text(fabric, fibre.to),
                        fibre.length_mm / 1'000, fibre.length_mm % 1'000, fibre.loss.centi / 100, fibre.loss.centi % 100,
                        fibre.id.value + 1);
  }
  return text;
}

}  // namespace loom
