// SPDX-License-Identifier: Apache-2.0
// The keys of a calibration.
#include "core/config/calibration_file.hpp"

#include "core/config/yaml/known_words.hpp"
#include "core/config/yaml/yaml_reader.hpp"
#include "core/config/yaml/yaml_words.hpp"

namespace loom {

Loaded<Calibration> read_calibration(const std::filesystem::path& path, const YamlNode& root,
                                     const std::vector<std::string>& known) {
  constexpr std::size_t kSettings = 256;
  ErrorList errors(path.string());
  YamlMap file(root, "the calibration", errors);
  check_header(file, "calibration");
  Calibration calibration;
  calibration.name = file.name("name", Rule::required);
  calibration.note = file.text("note", Rule::required);
  calibration.fitted_to = file.texts("fitted_to", kSettings);
  calibration.settings = file.settings("set", kSettings);
  const YamlNode* set = known.empty() ? nullptr : file.find("set");
  for (std::size_t i = 0; set != nullptr && i < set->keys.size(); ++i) {
    (void)check_word({set->keys[i], "set", set->keys[i].text}, known, errors);
  }
  file.finish();
  return errors.empty() ? Loaded<Calibration>{std::move(calibration), {}} : Loaded<Calibration>{std::nullopt, errors.sorted()};
}

Loaded<Calibration> load_calibration(const std::filesystem::path& path) {
  const Loaded<YamlNode> document = read_yaml(path);
  return document ? read_calibration(path, *document.value) : Loaded<Calibration>{std::nullopt, document.errors};
}

}  // namespace loom
