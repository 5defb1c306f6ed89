// SPDX-License-Identifier: Apache-2.0
// The list of drivers and the list of simulated devices, held against each other.
#include "drivers/registry.hpp"

#include <set>

#include "tests/drivers/subjects.hpp"

namespace loom {
namespace {

TEST_CASE("every_model_of_device_has_a_driver_and_a_simulated_device_that_understand_each_other") {
  for (const Subject& subject : subjects()) {
    INFO(subject.model);
    Rig rig = rig_of(subject);
    const Device& device = rig.fabric.device(rig.model->device());
    CHECK(driver_model_of(device).model.name == subject.model);
    rig.poll();
    CHECK(rig.driver->observe().device == device.id);
    CHECK(rig.driver->observe().health == DeviceHealth::ready);
    CHECK(rig.driver->observe().reading.index() == 1 + static_cast<std::size_t>(device.role));  // the reading of its role
    rig.fire(subject.setpoints[0]);
    REQUIRE(rig.driver->activity() == DriverActivity::settled);
    CHECK(is_true(rig, subject.setpoints[0]));
  }
}

TEST_CASE("no_model_is_simulated_that_nobody_drives") {
  std::set<std::string_view> driven;
  for (const DeviceModel* model : all_device_models()) {
    driven.insert(model->name);
  }
  const std::vector<std::string_view> simulated = simulated_models();
  CHECK(std::set<std::string_view>(simulated.begin(), simulated.end()) == driven);
  CHECK(simulated.size() == driven.size());
}

TEST_CASE("every_model_has_an_emulator_that_speaks_for_it") {
  for (const DeviceModel* model : all_device_models()) {
    CAPTURE(model->name);
    Device device;
    device.role = model->role;
    device.model = model->name;
    CHECK_FALSE(emulator_of(device).empty());
  }
}

TEST_CASE("a_device_that_names_no_model_is_of_the_usual_one_of_its_role") {
  for (const DeviceRole role : kDeviceRoles) {
    Device device;
    device.role = role;
    const DeviceModels models = all_device_models();
    const auto first = std::find_if(models.begin(), models.end(), [&](const DeviceModel* each) { return each->role == role; });
    REQUIRE(first != models.end());  // every role can be driven
    CHECK(driver_model_of(device).model.name == (*first)->name);
  }
}

}  // namespace
}  // namespace loom
