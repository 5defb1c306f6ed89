// SPDX-License-Identifier: Apache-2.0
// nlohmann's event parser (iterative: depth costs no stack) and a builder that keeps one node at a time.
#include "controller/workload/import/trace_json.hpp"

#include <optional>
#include <vector>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kDepthMax = 64;
constexpr std::size_t kValuesPerNodeMax = 4'000'000;

/// Events in, nodes out. Depth 1 is the file's object, depth 2 its "nodes" array, depth 3 and below is a node.
class NodeBuilder : public Json::json_sax_t {
 public:
  NodeBuilder(const std::function<bool(const std::string&)>& wants, const std::function<Result<void>(const Json&)>& node)
      : wants_(wants), node_(node) {}

  bool null() override { return value(nullptr); }
  bool boolean(bool given) override { return value(given); }
  bool number_integer(number_integer_t given) override { return value(given); }
  bool number_unsigned(number_unsigned_t given) override { return value(given); }
  bool number_float(number_float_t given, const string_t&) override { return value(given); }
  bool binary(binary_t&) override { return refuse(ErrorCode::malformed, "binary value"); }
  bool string(string_t& given) override {
    if (depth_ == 1 && key_ == "schema") {
      summary_.schema = given.substr(0, 256);
    }
    if (open_.size() == 1 && !skipping_ && keys_.back() == "name" && !wants_(given)) {
      skipping_ = true;
    }
    return value(std::move(given));
  }

  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override {
    if (depth_ == 1) {
      in_nodes_ = key_ == "nodes";
      summary_.has_nodes = summary_.has_nodes || in_nodes_;
      summary_.has_events = summary_.has_events || key_ == "traceEvents";
    }
    return open(Json::array());
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& given) override {
    if (!skipping_) {
      (open_.empty() ? key_ : keys_.back()) = std::move(given);
    }
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return refuse(ErrorCode::malformed, format_text("not JSON, or cut short, at byte {}", position));
  }

  const std::optional<Error>& error() const { return error_; }
  const NodeStreamSummary& summary() const { return summary_; }

 private:
  bool refuse(ErrorCode code, std::string message) {
    if (!error_) {
      error_ = Error{code, std::move(message)};
    }
    return false;
  }

  bool building() const { return !open_.empty(); }

  /// Puts a value into the innermost open container of the present node; returns where it lies now.
  Json* place(Json given) {
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(given));
      return &parent.back();
    }
    return &(parent[keys_.back()] = std::move(given));
  }

  bool count() {
    return ++values_ <= kValuesPerNodeMax ||
           refuse(ErrorCode::out_of_range, format_text("a node of more than {} values", kValuesPerNodeMax));
  }

  bool value(Json given) {
    if (!building() || skipping_) {
      return true;
    }
    place(std::move(given));
    return count();
  }

  bool open(Json empty) {
    if (++depth_ > kDepthMax) {
      return refuse(ErrorCode::malformed, format_text("nested deeper than {} levels", kDepthMax));
    }
    if (skipping_) {
      return true;
    }
    if (building()) {
      open_.push_back(place(std::move(empty)));
      keys_.emplace_back();
      return count();
    }
    if (in_nodes_ && depth_ == 3) {
      root_ = std::move(empty);
      values_ = 0;
      open_.push_back(&root_);
      keys_.emplace_back();
    }
    return true;
  }

  bool close() {
    --depth_;
    if (skipping_) {
      if (depth_ == 2) {
        ++summary_.nodes;
        skipping_ = false;
        open_.clear();
        keys_.clear();
      }
      return true;
    }
    if (building()) {
      open_.pop_back();
      keys_.pop_back();
      if (!building()) {
        ++summary_.nodes;
        const Result<void> outcome = node_(root_);
        return outcome || refuse(outcome.error().code, outcome.error().message);
      }
    } else if (depth_ == 1) {
      in_nodes_ = false;
    }
    return true;
  }

  const std::function<bool(const std::string&)>& wants_;
  const std::function<Result<void>(const Json&)>& node_;
  NodeStreamSummary summary_;
  std::optional<Error> error_;
  Json root_;
  std::vector<Json*> open_;
  std::vector<std::string> keys_;
  std::string key_;
  std::size_t depth_ = 0;
  std::size_t values_ = 0;
  bool in_nodes_ = false;
  bool skipping_ = false;  ///< within a node that nobody wants
};

}  // namespace

Result<NodeStreamSummary> stream_nodes(std::istream& stream, const std::function<bool(const std::string& name)>& wants,
                                       const std::function<Result<void>(const Json&)>& node) {
  NodeBuilder builder{wants, node};
  bool whole = false;
  try {
    whole = Json::sax_parse(stream, &builder);
  } catch (const std::exception& fault) {  // the library's: bad_alloc, or what it did not say through parse_error
    return fail(ErrorCode::malformed, format_text("unreadable: {}", fault.what()));
  }
  if (builder.error()) {
    return std::unexpected(*builder.error());
  }
  if (!whole) {
    return fail(ErrorCode::malformed, "not JSON");
  }
  return builder.summary();
}

}  // namespace loom
