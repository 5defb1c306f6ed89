// SPDX-License-Identifier: Apache-2.0
// Fields to numbers, numbers to a matrix.
#include "controller/workload/import/demand_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "controller/workload/models/compute_time.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kShown = 40;  ///< characters of a user's field that an error repeats
constexpr double kBytesMost = static_cast<double>(limits::kCollectiveBytes);

std::unexpected<Error> refuse(const std::string& source, const std::string& what) {
  return fail(ErrorCode::invalid_argument, format_text("{}: {}", source, what));
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\"");
  return begin == std::string_view::npos ? std::string_view{}
                                         : text.substr(begin, text.find_last_not_of(" \t\r\"") - begin + 1);
}

std::optional<double> number_in(std::string_view field) {
  double value = 0;
  field.remove_prefix(field.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  const bool is_whole = end == field.data() + field.size() && !field.empty();
  return is_whole && (error == std::errc{} || error == std::errc::result_out_of_range)
             ? std::optional(error == std::errc{} ? value : HUGE_VAL)
             : std::nullopt;
}

/// Fills a matrix; every number that comes in says where it stood.
class Filler {
 public:
  Filler(const std::string& source, std::uint32_t nodes) : source_(source) {
    demand_.nodes = nodes;
    demand_.bytes.resize(std::size_t{nodes} * nodes);
  }

  /// `where`: a function that makes "line 3, row 2, column 1", called only for an error.
  template <class Where>
  Result<void> put(std::uint32_t from, std::uint32_t to, double value, const Where& where) {
    if (!std::isfinite(value) && !std::isinf(value)) {
      return refuse(source_, format_text("{}: NaN; bytes are numbers from 0 on", where()));
    }
    if (value < 0) {
      return refuse(source_, format_text("{}: {} bytes; bytes are numbers from 0 on", where(), printed("%g", value)));
    }
    if (value > kBytesMost) {
      return fail(ErrorCode::out_of_range, format_text("{}: {}: {} bytes; the limit is {} (kCollectiveBytes)", source_, where(),
                                                       printed("%g", value), limits::kCollectiveBytes));
    }
    if (from == to) {
      return value == 0 ? Result<void>{}
                        : refuse(source_, format_text("{}: {} bytes from node {} to itself; the diagonal must be 0", where(),
                                                      printed("%g", value), from));
    }
    const double whole = std::round(value);
    rounded_ += whole != value ? 1 : 0;
    Bytes& cell = demand_.bytes[std::size_t{from} * demand_.nodes + to];
    repeated_ += cell.count != 0 && whole != 0 ? 1 : 0;
    cell.count += static_cast<std::int64_t>(whole);
    return cell.count <= limits::kCollectiveBytes
               ? Result<void>{}
               : fail(ErrorCode::out_of_range, format_text("{}: {}: {} bytes from node {} to node {} in sum; the limit is {} "
                                                           "(kCollectiveBytes)",
                                                           source_, where(), cell.count, from, to, limits::kCollectiveBytes));
  }

  Result<DemandMatrix> finish(std::vector<std::string> notes) && {
    bool moves = false;
    for (std::uint32_t node = 0; node < demand_.nodes; ++node) {
      std::int64_t out = 0;
      for (std::uint32_t to = 0; to < demand_.nodes; ++to) {
        out += demand_.bytes[std::size_t{node} * demand_.nodes + to].count;
        if (out > limits::kCollectiveBytes) {
          return fail(ErrorCode::out_of_range, format_text("{}: row {}: node {} sends more than {} bytes (kCollectiveBytes)",
                                                           source_, node, node, limits::kCollectiveBytes));
        }
      }
      moves = moves || out > 0;
    }
    if (!moves) {
      return refuse(source_, "nothing to move: every number is 0");
    }
    demand_.notes = std::move(notes);
    if (rounded_ > 0) {
      demand_.notes.push_back(format_text("{} numbers rounded to whole bytes", rounded_));
    }
    if (repeated_ > 0) {
      demand_.notes.push_back(format_text("{} rows named a pair again and were added", repeated_));
    }
    return std::move(demand_);
  }

 private:
  const std::string& source_;
  DemandMatrix demand_;
  std::size_t rounded_ = 0;
  std::size_t repeated_ = 0;
};

Result<void> check_nodes(const std::string& source, std::uint64_t found, std::uint32_t nodes, std::string_view what) {
  if (found < 2) {
    return refuse(source, format_text("{} of {} nodes; a demand needs two", what, found));
  }
  if (found > kDemandNodes) {
    return fail(ErrorCode::out_of_range,
                format_text("{}: {} of {} nodes; the limit is {} (kDemandNodes)", source, what, found, kDemandNodes));
  }
  if (nodes != 0 && nodes != found) {
    return refuse(source, format_text("{} of {} nodes; --nodes says {}", what, found, nodes));
  }
  return {};
}

struct Line {
  std::size_t number = 0;  ///< in the file, from 1
  std::vector<std::string_view> fields;
};

char separator_of(std::string_view line) {
  for (const char each : {',', ';', '\t'}) {
    if (line.find(each) != std::string_view::npos) {
      return each;
    }
  }
  return ' ';
}

std::vector<std::string_view> fields_of(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  while (true) {
    const auto end = line.find(separator);
    const std::string_view field = trimmed(line.substr(0, end));
    if (separator != ' ' || !field.empty()) {
      fields.push_back(field);
    }
    if (end == std::string_view::npos) {
      return fields;
    }
    line.remove_prefix(end + 1);
  }
}

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  std::optional<char> separator;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line = line.substr(0, line.find('#'));
    if (trimmed(line).empty()) {
      continue;
    }
    separator = separator ? separator : separator_of(line);
    lines.push_back({number, fields_of(line, *separator)});
  }
  return lines;
}

bool is_number(std::string_view field) { return number_in(field).has_value(); }

std::string lower(std::string_view word) {
  std::string text{word};
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char each) { return std::tolower(each); });
  return text;
}

bool says_rows(const std::vector<std::string_view>& header) {
  if (header.size() != 3) {
    return false;
  }
  const std::string first = lower(header[0]);
  const std::string second = lower(header[1]);
  return (first.starts_with("src") || first.starts_with("source") || first == "from") &&
         (second.starts_with("dst") || second.starts_with("dest") || second == "target" || second == "to");
}

/// A header of numbers, as pandas writes one: 0, 1, .. over as many rows as it has columns.
bool counts_up(const Line& line, std::size_t rows) {
  if (rows != line.fields.size()) {
    return false;
  }
  for (std::size_t i = 0; i < line.fields.size(); ++i) {
    if (line.fields[i] != std::to_string(i)) {
      return false;
    }
  }
  return true;
}

Result<std::uint32_t> node_in(const std::string& source, const Line& line, std::size_t column, std::uint32_t nodes) {
  const std::string_view field = line.fields[column];
  std::uint32_t node = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), node);
  if (error != std::errc{} || end != field.data() + field.size()) {
    return refuse(source, format_text("line {}, column {}: '{}' is no node; nodes are whole numbers from 0 on", line.number,
                                      column + 1, field.substr(0, kShown)));
  }
  const std::uint32_t most = nodes == 0 ? kDemandNodes : nodes;
  if (node >= most) {
    return fail(ErrorCode::out_of_range,
                format_text("{}: line {}, column {}: node {}; nodes count from 0 to {} ({})", source, line.number, column + 1,
                            node, most - 1, nodes == 0 ? "kDemandNodes" : "--nodes"));
  }
  return node;
}

/// Rows of src,dst,bytes as numbers that already are, with where each stood.
struct PairRow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  double bytes = 0;
  std::size_t place = 0;  ///< line of the file, or row of the array
};

Result<DemandMatrix> matrix_of_rows(const std::vector<PairRow>& rows, const std::string& source, std::uint32_t nodes,
                                    std::string_view place) {
  std::uint32_t most = 0;
  for (const PairRow& row : rows) {
    most = std::max({most, row.from + 1, row.to + 1});
  }
  const std::uint32_t all = nodes == 0 ? most : nodes;
  LOOM_TRY(check_nodes(source, all, 0, "rows"));
  Filler fill(source, all);
  for (const PairRow& row : rows) {
    LOOM_TRY(fill.put(row.from, row.to, row.bytes,
                      [&] { return format_text("{} {}, row {}, column {}", place, row.place, row.from, row.to); }));
  }
  return std::move(fill).finish({format_text("{} rows of src,dst,bytes, nodes from 0 to {}", rows.size(), all - 1)});
}

Result<DemandMatrix> parse_rows(const std::vector<Line>& lines, std::size_t first, const std::string& source,
                                std::uint32_t nodes) {
  std::vector<PairRow> rows;
  for (std::size_t i = first; i < lines.size(); ++i) {
    const Line& line = lines[i];
    if (line.fields.size() != 3) {
      return refuse(source, format_text("line {}: {} fields; rows are src,dst,bytes", line.number, line.fields.size()));
    }
    const auto from = node_in(source, line, 0, nodes);
    const auto to = node_in(source, line, 1, nodes);
    if (!from || !to) {
      return std::unexpected(from ? to.error() : from.error());
    }
    const auto bytes = number_in(line.fields[2]);
    if (!bytes) {
      return refuse(
          source, format_text("line {}, column 3: '{}' is no number of bytes", line.number, line.fields[2].substr(0, kShown)));
    }
    rows.push_back({*from, *to, *bytes, line.number});
  }
  return matrix_of_rows(rows, source, nodes, "line");
}

Result<DemandMatrix> parse_matrix(const std::vector<Line>& lines, std::size_t first, std::size_t named,
                                  const std::string& source, std::uint32_t nodes) {
  const std::size_t rows = lines.size() - first;
  for (std::size_t i = first; i < lines.size(); ++i) {
    if (lines[i].fields.size() != rows + named) {
      return refuse(source,
                    format_text("line {}, row {}: {} columns in a matrix of {} rows; it must be square", lines[i].number,
                                i - first, lines[i].fields.size() - std::min(named, lines[i].fields.size()), rows));
    }
  }
  LOOM_TRY(check_nodes(source, rows, nodes, "a matrix"));
  Filler fill(source, static_cast<std::uint32_t>(rows));
  for (std::uint32_t row = 0; row < rows; ++row) {
    const Line& line = lines[first + row];
    for (std::uint32_t column = 0; column < rows; ++column) {
      const auto where = [&] { return format_text("line {}, row {}, column {}", line.number, row, column); };
      const auto bytes = number_in(line.fields[column + named]);
      if (!bytes) {
        return refuse(source,
                      format_text("{}: '{}' is no number of bytes", where(), line.fields[column + named].substr(0, kShown)));
      }
      LOOM_TRY(fill.put(row, column, *bytes, where));
    }
  }
  return std::move(fill).finish({format_text("a matrix of {} x {} bytes, from row to column", rows, rows)});
}

/// What the header of a .npy file says.
struct NpyHeader {
  char order = '<';
  char kind = 'f';  ///< f: float, i: signed, u: unsigned
  std::size_t width = 8;
  bool columns_first = false;
  std::array<std::uint64_t, 2> shape{};
  std::size_t data = 0;  ///< where the numbers begin
};

/// What stands behind `key` in a dictionary of Python's; empty: nothing.
std::string_view value_behind(std::string_view dictionary, std::string_view key) {
  const auto at = dictionary.find(key);
  if (at == std::string_view::npos) {
    return {};
  }
  std::string_view rest = dictionary.substr(at + key.size());
  const auto begin = rest.find_first_not_of(" :");
  return begin == std::string_view::npos ? std::string_view{} : rest.substr(begin);
}

Result<NpyHeader> npy_header(std::string_view file, const std::string& source) {
  const auto broken = [&](const std::string& what) { return fail(ErrorCode::malformed, format_text("{}: {}", source, what)); };
  if (file.size() < 12) {
    return broken(format_text("cut short: {} bytes, no header of NumPy's", file.size()));
  }
  const auto byte = [&](std::size_t at) { return static_cast<std::uint32_t>(static_cast<unsigned char>(file[at])); };
  const bool is_first = byte(6) == 1;
  if (byte(6) < 1 || byte(6) > 3) {
    return broken(format_text("version {} of NumPy's format; 1 to 3 are read", byte(6)));
  }
  const std::size_t length = byte(8) + (byte(9) << 8) + (is_first ? 0 : (byte(10) << 16) + (byte(11) << 24));
  NpyHeader header;
  header.data = (is_first ? 10 : 12) + length;
  if (header.data > file.size()) {
    return broken(format_text("cut short: a header of {} bytes in a file of {}", length, file.size()));
  }
  const std::string_view dictionary = file.substr(header.data - length, length);
  const std::string_view type = value_behind(dictionary, "'descr'");
  if (type.size() < 5 || type[0] != '\'' || std::string_view{"<>|="}.find(type[1]) == std::string_view::npos ||
      std::string_view{"fiu"}.find(type[2]) == std::string_view::npos ||
      std::string_view{"1248"}.find(type[3]) == std::string_view::npos || type[4] != '\'' ||
      (type[2] == 'f' && type[3] < '4')) {
    return broken(format_text("numbers of type {}; integers of 1 to 8 and floats of 4 and 8 bytes are read",
                              type.substr(0, std::min(type.find(','), kShown))));
  }
  header.order = type[1];
  header.kind = type[2];
  header.width = static_cast<std::size_t>(type[3] - '0');
  header.columns_first = value_behind(dictionary, "'fortran_order'").starts_with("True");
  std::string_view shape = value_behind(dictionary, "'shape'");
  const std::string shown{shape.substr(0, std::min(shape.find(')') + 1, kShown))};
  shape.remove_prefix(shape.starts_with('(') ? 1 : 0);
  for (std::size_t i = 0; i < header.shape.size(); ++i) {
    const auto begin = shape.find_first_not_of(" ");
    shape.remove_prefix(begin == std::string_view::npos ? shape.size() : begin);
    const auto [end, error] = std::from_chars(shape.data(), shape.data() + shape.size(), header.shape[i]);
    shape.remove_prefix(static_cast<std::size_t>(end - shape.data()));
    const bool goes_on = error == std::errc{} && (i == 0 ? shape.starts_with(',') : shape.starts_with(')'));
    if (!goes_on) {
      return refuse(source, format_text("an array of shape {}; N x N, or rows of (src, dst, bytes), is read", shown));
    }
    shape.remove_prefix(1);
  }
  return header;
}

template <class Number>
double number_from(const char* bytes, bool is_swapped) {
  std::array<char, sizeof(Number)> raw{};
  std::memcpy(raw.data(), bytes, sizeof(Number));
  if (is_swapped) {
    std::reverse(raw.begin(), raw.end());
  }
  Number value{};
  std::memcpy(&value, raw.data(), sizeof(Number));
  return static_cast<double>(value);
}

double npy_number(const NpyHeader& header, const char* bytes) {
  const bool swapped = header.order == '>';
  switch (header.kind == 'f' ? header.width + 100 : header.kind == 'i' ? header.width + 200 : header.width) {
    case 104:
      return number_from<float>(bytes, swapped);
    case 108:
      return number_from<double>(bytes, swapped);
    case 201:
      return number_from<std::int8_t>(bytes, swapped);
    case 202:
      return number_from<std::int16_t>(bytes, swapped);
    case 204:
      return number_from<std::int32_t>(bytes, swapped);
    case 208:
      return number_from<std::int64_t>(bytes, swapped);
    case 1:
      return number_from<std::uint8_t>(bytes, swapped);
    case 2:
      return number_from<std::uint16_t>(bytes, swapped);
    case 4:
      return number_from<std::uint32_t>(bytes, swapped);
    default:
      return number_from<std::uint64_t>(bytes, swapped);
  }
}

}  // namespace

bool is_demand_file(std::string_view path) {
  return path.ends_with(".csv") || path.ends_with(".tsv") || path.ends_with(".txt") || path.ends_with(".npy");
}

Result<DemandMatrix> parse_demand_text(std::string_view text, const std::string& source, std::uint32_t nodes) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  text.remove_prefix(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
  const std::vector<Line> lines = lines_of(text);
  if (lines.empty()) {
    return refuse(source, "no numbers");
  }
  const auto& head = lines.front().fields;
  const bool has_header = counts_up(lines.front(), lines.size() - 1) || head.front().empty() ||
                          !std::all_of(head.begin() + (head.size() > 1 ? 1 : 0), head.end(), is_number);
  const std::size_t first = has_header ? 1 : 0;
  if (lines.size() == first) {
    return refuse(source, format_text("line {}: a header, and no numbers behind it", lines.front().number));
  }
  const std::size_t rows = lines.size() - first;
  if (says_rows(head) || (!has_header && head.size() == 3 && rows != 3)) {
    return parse_rows(lines, first, source, nodes);
  }
  const bool is_named = (has_header && head.front().empty()) || !is_number(lines[first].fields.front());
  const std::size_t named = is_named && lines[first].fields.size() > 1 ? 1 : 0;
  return parse_matrix(lines, first, named, source, nodes);
}

Result<DemandMatrix> parse_demand_npy(std::string_view file, const std::string& source, std::uint32_t nodes) {
  const auto header = npy_header(file, source);
  if (!header) {
    return std::unexpected(header.error());
  }
  const auto [rows, columns] = header->shape;
  if (rows > std::uint64_t{kDemandNodes} * kDemandNodes || columns > kDemandNodes) {
    return fail(ErrorCode::out_of_range, format_text("{}: an array of {} x {}; the limit is {} nodes (kDemandNodes)", source,
                                                     rows, columns, kDemandNodes));
  }
  const std::size_t wanted = header->data + rows * columns * header->width;
  if (file.size() != wanted) {
    return fail(ErrorCode::malformed,
                format_text("{}: {} bytes; an array of {} x {} needs {}", source, file.size(), rows, columns, wanted));
  }
  const auto at = [&, rows = rows, columns = columns](std::uint64_t row, std::uint64_t column) {
    const std::uint64_t index = header->columns_first ? column * rows + row : row * columns + column;
    return npy_number(*header, file.data() + header->data + index * header->width);
  };
  if (columns == 3 && rows != 3) {
    std::vector<PairRow> pairs;
    for (std::uint64_t row = 0; row < rows; ++row) {
      for (const std::uint64_t column : {0U, 1U}) {
        const double node = at(row, column);
        const std::uint32_t most = nodes == 0 ? kDemandNodes : nodes;
        if (!(node >= 0) || node >= most || node != std::floor(node)) {
          return refuse(source, format_text("row {}, column {}: {} is no node; nodes count from 0 to {}", row, column,
                                            printed("%g", node), most - 1));
        }
      }
      pairs.push_back({static_cast<std::uint32_t>(at(row, 0)), static_cast<std::uint32_t>(at(row, 1)), at(row, 2), row});
    }
    return matrix_of_rows(pairs, source, nodes, "entry");
  }
  if (rows != columns) {
    return refuse(source, format_text("an array of {} x {}; a matrix must be square", rows, columns));
  }
  LOOM_TRY(check_nodes(source, rows, nodes, "a matrix"));
  Filler fill(source, static_cast<std::uint32_t>(rows));
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t column = 0; column < columns; ++column) {
      LOOM_TRY(fill.put(row, column, at(row, column), [&] { return format_text("row {}, column {}", row, column); }));
    }
  }
  return std::move(fill).finish({format_text("a matrix of {} x {} bytes, from row to column", rows, rows)});
}

Result<DemandMatrix> read_demand_file(const std::string& path, std::uint32_t nodes) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) {
    return fail(ErrorCode::not_found, format_text("{}: no file that can be read ({})", path, error.message()));
  }
  if (size > limits::kTraceFileBytes) {
    return fail(ErrorCode::out_of_range,
                format_text("{}: {} bytes; the limit is {} (kTraceFileBytes)", path, size, limits::kTraceFileBytes));
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) {
    return fail(ErrorCode::storage, path + ": cannot be read");
  }
  return text.starts_with(kMagic) ? parse_demand_npy(text, path, nodes) : parse_demand_text(text, path, nodes);
}

JobSpec job_of_demand(DemandMatrix demand, const std::string& path, Duration compute) {
  JobSpec job;
  job.name = std::filesystem::path(path).stem().string();
  job.workload = std::filesystem::path(path).filename().string();
  job.node_count = demand.nodes;
  job.compute = compute;
  Collective all{.kind = CollectiveKind::all_to_all};
  for (std::uint32_t node = 0; node < demand.nodes; ++node) {
    std::int64_t out = 0;
    for (std::uint32_t to = 0; to < demand.nodes; ++to) {
      out += demand.bytes[std::size_t{node} * demand.nodes + to].count;
    }
    all.bytes.count = std::max(all.bytes.count, out);
  }
  all.splits = std::move(demand.bytes);
  job.collectives.push_back(std::move(all));
  for (const std::string& note : demand.notes) {
    job.assumptions.push_back(format_text("{}: {}", job.workload, note));
  }
  return job;
}

}  // namespace loom
