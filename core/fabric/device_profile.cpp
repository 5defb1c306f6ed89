// SPDX-License-Identifier: Apache-2.0
// Lookups: a handful of keys a model, asked once when its driver is made.
#include "core/fabric/device_profile.hpp"

#include <algorithm>

#include "core/result.hpp"

namespace loom {

const ProfileKey& DeviceProfileView::key_of(std::string_view name) const {
  const auto found = std::ranges::find(keys_, name, &ProfileKey::name);
  LOOM_ASSERT(found != keys_.end());
  return *found;
}

const ProfileValue* DeviceProfileView::given(std::string_view name) const {
  const auto found = std::ranges::find(given_, name, &DeviceSetting::key);
  return found == given_.end() ? nullptr : &found->value;
}

Duration DeviceProfileView::duration(std::string_view name) const {
  const auto& usual = std::get<DurationKey>(key_of(name).type);
  const ProfileValue* value = given(name);
  return value == nullptr ? usual.usual : Duration{std::get<std::int64_t>(*value)};
}

std::int64_t DeviceProfileView::integer(std::string_view name) const {
  const auto& usual = std::get<IntegerKey>(key_of(name).type);
  const ProfileValue* value = given(name);
  return value == nullptr ? usual.usual : std::get<std::int64_t>(*value);
}

double DeviceProfileView::real(std::string_view name) const {
  const auto& usual = std::get<RealKey>(key_of(name).type);
  const ProfileValue* value = given(name);
  return value == nullptr ? usual.usual : std::get<double>(*value);
}

bool DeviceProfileView::flag(std::string_view name) const {
  const auto& usual = std::get<FlagKey>(key_of(name).type);
  const ProfileValue* value = given(name);
  return value == nullptr ? usual.usual : std::get<std::int64_t>(*value) != 0;
}

std::size_t DeviceProfileView::word(std::string_view name) const {
  const auto& usual = std::get<WordKey>(key_of(name).type);
  const ProfileValue* value = given(name);
  return value == nullptr ? usual.usual : static_cast<std::size_t>(std::get<std::int64_t>(*value));
}

std::string DeviceProfileView::text(std::string_view name) const {
  const auto& usual = std::get<TextKey>(key_of(name).type);
  const ProfileValue* value = given(name);
  return value == nullptr ? std::string(usual.usual) : std::get<std::string>(*value);
}

}  // namespace loom
