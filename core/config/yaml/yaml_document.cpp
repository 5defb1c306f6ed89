// SPDX-License-Identifier: Apache-2.0
// yaml-cpp's events into a tree of words. The event interface, not YAML::Node: the latter drops duplicate keys, converts on
// demand, shares aliases and has no place for a missing key.
#include "core/config/yaml/yaml_document.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <tuple>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(ErrorList& errors) : errors_(errors) {}

  const std::optional<YamlNode>& root() const { return root_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ == 2) {
      errors_.add(mark.line + 1, mark.column + 1, "a second document begins here; expected one document a file");
    }
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_extras(mark, "?", anchor);
    take(node_at(mark, YamlNode::Kind::null));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    errors_.add(mark.line + 1, mark.column + 1, "an alias (*name) is not read here; expected the value itself");
    take(node_at(mark, YamlNode::Kind::null));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    refuse_extras(mark, tag, anchor);
    YamlNode node = node_at(mark, YamlNode::Kind::scalar);
    node.quoted = tag == "!";
    if (value.size() > limits::kTextBytes) {
      errors_.add(node, format_text("a text of {} bytes; the limit is {}", value.size(), limits::kTextBytes));
    } else {
      node.text = value;
    }
    take(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  static YamlNode node_at(const YAML::Mark& mark, YamlNode::Kind kind) {
    YamlNode node;
    node.kind = kind;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    return node;
  }

  void refuse_extras(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) {
      errors_.add(mark.line + 1, mark.column + 1, "an anchor (&name) is not read here; expected the value itself");
    }
    if (tag != "?" && tag != "!" && !tag.empty()) {
      errors_.add(mark.line + 1, mark.column + 1, format_text("the tag '{}' is not read here; expected the value itself", tag));
    }
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
    refuse_extras(mark, tag, anchor);
    if (open_.size() >= kYamlDepth) {
      if (too_deep_++ == 0) {
        errors_.add(mark.line + 1, mark.column + 1, format_text("nested deeper than the limit of {} levels", kYamlDepth));
      }
      return;
    }
    open_.push_back(node_at(mark, kind));
  }

  void close() {
    if (too_deep_ > 0) {
      --too_deep_;
      return;
    }
    YamlNode node = std::move(open_.back());
    open_.pop_back();
    if (node.kind == YamlNode::Kind::map) {
      refuse_duplicates(node);
    }
    take(std::move(node));
  }

  /// A finished value: the next key or value of what is open.
  void take(YamlNode node) {
    if (too_deep_ > 0 || documents_ > 1 || ++values_ > kYamlValues) {
      if (values_ == kYamlValues + 1) {
        errors_.add(node, format_text("more than the limit of {} values in one file", kYamlValues));
      }
      return;
    }
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    YamlNode& parent = open_.back();
    if (parent.kind != YamlNode::Kind::map || parent.keys.size() > parent.items.size()) {
      parent.items.push_back(std::move(node));
      return;
    }
    if (node.kind != YamlNode::Kind::scalar) {
      errors_.add(node, "a key must be a single word");
    } else if (node.text == "<<" && !node.quoted) {
      errors_.add(node, "a merge key (<<) is not read here; expected the keys themselves");
    }
    parent.keys.push_back(std::move(node));
  }

  void refuse_duplicates(const YamlNode& map) {
    std::vector<const YamlNode*> keys;
    for (const YamlNode& key : map.keys) {
      keys.push_back(&key);
    }
    std::ranges::sort(keys, {},
                      [](const YamlNode* key) { return std::tuple(std::string_view(key->text), key->line, key->column); });
    for (std::size_t i = 1; i < keys.size(); ++i) {
      if (keys[i]->kind == YamlNode::Kind::scalar && keys[i]->text == keys[i - 1]->text) {
        errors_.add(*keys[i],
                    format_text("duplicate key '{}'; it stands already in line {}", keys[i]->text, keys[i - 1]->line));
      }
    }
  }

  ErrorList& errors_;
  std::optional<YamlNode> root_;
  std::vector<YamlNode> open_;
  std::size_t too_deep_ = 0;  ///< levels that are open but not kept
  std::size_t values_ = 0;
  int documents_ = 0;
};

/// Most brackets open at once, strings and comments counted too. yaml-cpp keeps every open flow collection as a possible key
/// and takes gigabytes for a file of brackets, so such a file must not reach it.
std::size_t open_brackets(std::string_view text) {
  std::size_t open = 0;
  std::size_t most = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') {
      most = std::max(most, ++open);
    } else if ((c == ']' || c == '}') && open > 0) {
      --open;
    }
  }
  return most;
}

Loaded<YamlNode> failed(std::string file, std::string message) {
  return {std::nullopt, {ConfigError{std::move(file), 0, 0, std::move(message)}}};
}

}  // namespace

std::string to_string(const ConfigError& error) {
  if (error.line == 0) {
    return format_text("{}: {}", error.file, error.message);
  }
  return format_text("{}:{}:{}: {}", error.file, error.line, error.column, error.message);
}

void ErrorList::add(int line, int column, std::string message) {
  if (errors_.size() >= kConfigErrors) {
    ++dropped_;
    return;
  }
  insert({file_, line, column, std::move(message)});
}

void ErrorList::add_unknown(const YamlNode& key, std::string message, std::vector<KeyQuestion> known) {
  if (errors_.size() >= kConfigErrors) {
    ++dropped_;
    return;
  }
  insert({file_, key.line, key.column, std::move(message), std::move(known)});
}

void ErrorList::append(const std::vector<ConfigError>& others) {
  for (const ConfigError& error : others) {
    insert(error);
  }
}

void ErrorList::insert(ConfigError error) {
  const auto place = [](const ConfigError& one) { return std::tie(one.file, one.line, one.column); };
  errors_.insert(std::ranges::upper_bound(errors_, place(error), {}, place), std::move(error));
}

std::vector<ConfigError> ErrorList::sorted() const {
  std::vector<ConfigError> errors = errors_;
  if (dropped_ > 0) {
    errors.push_back({file_, 0, 0, format_text("{} more errors; the first {} are listed", dropped_, kConfigErrors)});
  }
  return errors;
}

Loaded<YamlNode> parse_yaml(std::string_view file, std::string_view text) {
  if (const std::size_t open = open_brackets(text); open > kYamlBrackets) {
    return failed(std::string(file), format_text("{} brackets are open at once; the limit is {}", open, kYamlBrackets));
  }
  ErrorList errors{std::string(file)};
  TreeBuilder builder(errors);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder) && errors.empty()) {
    }
  } catch (const YAML::Exception& exception) {
    if (errors.empty()) {  // otherwise it only gave up over what is listed already
      errors.add(exception.mark.line + 1, exception.mark.column + 1, "not YAML: " + exception.msg);
    }
  } catch (const std::exception& exception) {
    errors.add(0, 0, format_text("not readable as YAML: {}", exception.what()));
  }
  if (!errors.empty()) {
    return {std::nullopt, errors.sorted()};
  }
  if (!builder.root() || builder.root()->kind == YamlNode::Kind::null) {
    return failed(std::string(file), "the file is empty; expected 'schema_version: 1' and 'kind: fabric' or 'kind: scenario'");
  }
  return {builder.root(), {}};
}

Loaded<YamlNode> read_yaml(const std::filesystem::path& path) {
  const std::string file = path.string();
  std::error_code problem;
  if (!std::filesystem::is_regular_file(path, problem)) {
    return failed(file, problem ? "cannot be opened: " + problem.message() : "is not a file");
  }
  const auto size = std::filesystem::file_size(path, problem);
  if (problem || size > limits::kConfigFileBytes) {
    return failed(file, problem ? "cannot be opened: " + problem.message()
                                : format_text("has {} bytes; the limit is {}", size, limits::kConfigFileBytes));
  }
  std::ifstream stream(path, std::ios::binary);
  std::string text(size, '\0');
  if (size > 0 && !stream.read(text.data(), static_cast<std::streamsize>(size))) {
    return failed(file, "cannot be read");
  }
  return parse_yaml(file, text);
}

}  // namespace loom
