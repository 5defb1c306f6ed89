// The keys of a calibration.
#include "core/config/calibration_file.hpp"

#include "core/config/yaml_reader.hpp"
#include "core/config/yaml_words.hpp"

namespace loom {

Loaded<Calibration> read_calibration(const std::filesystem::path& path, const YamlNode& root) {
  constexpr std::size_t kSettings = 256;
  ErrorList errors(path.string());
  YamlMap file(root, "the calibration", errors);
  check_header(file, "calibration");
  Calibration calibration;
  calibration.name = file.name("name", Rule::required);
  calibration.note = file.text("note", Rule::required);
  calibration.fitted_to = file.texts("fitted_to", kSettings);
  calibration.settings = file.settings("set", kSettings);
  file.finish();
  return errors.empty() ? Loaded<Calibration>{std::move(calibration), {}} : Loaded<Calibration>{std::nullopt, errors.sorted()};
}

Loaded<Calibration> load_calibration(const std::filesystem::path& path) {
  const Loaded<YamlNode> document = read_yaml(path);
  return document ? read_calibration(path, *document.value) : Loaded<Calibration>{std::nullopt, document.errors};
}

}  // namespace loom
