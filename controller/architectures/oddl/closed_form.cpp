// Settings into guards and dark times.
#include "controller/architectures/oddl/closed_form.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "controller/architectures/oddl/fabric.hpp"
#include "core/limits.hpp"

namespace loom {

Result<FabricModel> make_oddl_model(BitRate rate, std::uint32_t nodes, const Settings& settings) {
  LOOM_TRY(check_keys(settings, "oddl", kOddlModelKeys));
  auto bare = bare_model("oddl", rate, nodes, settings);
  if (!bare) {
    return bare;
  }
  FabricModel model = *std::move(bare);
  const OddlParameters defaults;
  const auto retune = microseconds(settings, "retune_us", defaults.laser_retune_max);
  const auto control = microseconds(settings, "control_us", defaults.laser_control_max);
  const auto blank = microseconds(settings, "blank_us", defaults.laser_blank_max);
  const auto acquisition = microseconds(settings, "acquisition_us", defaults.receiver_acquisition_max);
  const auto settle = number(settings, "wss_settle_ms", milliseconds_of(defaults.wss_settle_max), 0, 60e3);
  const auto group = whole_number(settings, "group_size", defaults.group_size, 1, static_cast<std::int64_t>(limits::kNodes));
  for (const Error* error :
       {retune ? nullptr : &retune.error(), control ? nullptr : &control.error(), blank ? nullptr : &blank.error(),
        acquisition ? nullptr : &acquisition.error(), settle ? nullptr : &settle.error(), group ? nullptr : &group.error()}) {
    if (error != nullptr) {
      return std::unexpected(*error);
    }
  }
  model.form = FabricForm::timeslots;
  model.group_size = static_cast<std::uint32_t>(*group);
  model.guard = *blank + *retune + *control + *acquisition;
  model.map_change = *blank + Duration{std::llround(*settle * 1e6)} + *acquisition;
  model.assumptions = {
      "oddl (reconstruction): only the paper's abstract is public; groups of " + std::to_string(model.group_size) +
          ", one transmitter and one fixed-filter receiver a node",
      "oddl: a ring keeps one circuit a neighbour at full rate, no retune; one link of " + in_us(model.link_latency),
      "oddl: an all-to-all is played in timeslots; guard " + in_us(model.guard) + " each (blank " + in_us(*blank) +
          ", retune " + in_us(*retune) + ", control " + in_us(*control) + ", acquisition " + in_us(*acquisition) + ")",
      "oddl: a change of the WSS map darkens the job for " + in_us(model.map_change) +
          "; the controller's own time is not counted"};
  return model;
}

}  // namespace loom
