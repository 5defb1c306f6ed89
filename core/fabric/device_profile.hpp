// SPDX-License-Identifier: Apache-2.0
// What a model of device must be told of the single device beside its place: register base, scale, reply time, ports of its
// own. A model lists its keys with type, limits, default and meaning; files give values under `profile:`; a driver asks for
// them by name. Generic rooms pass them on and never look.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/time.hpp"

namespace loom {

/// An integer (durations: ns; frequencies: MHz; words: place in the list; flags: 0, 1), a real number, or a text.
using ProfileValue = std::variant<std::int64_t, double, std::string>;

struct DurationKey {
  Duration usual, least, most;
};
struct IntegerKey {
  std::int64_t usual, least, most;
};
struct RealKey {
  double usual, least, most;
};
struct FlagKey {
  bool usual;
};
struct WordKey {
  std::span<const std::string_view> words;
  std::size_t usual;  ///< place in `words`
};
struct TextKey {
  std::string_view usual;
};

/// One key of a model's profile. Both limits included.
struct ProfileKey {
  std::string_view name;
  std::variant<DurationKey, IntegerKey, RealKey, FlagKey, WordKey, TextKey> type;
  std::string_view meaning;  ///< with its unit: what people are told
};

/// A value that a file gave, already checked against its key.
struct DeviceSetting {
  std::string key;
  ProfileValue value;
  bool operator==(const DeviceSetting&) const = default;
};

/// The profile of one device: what was given, and else what is usual. Asking for a key that the model does not list, or for
/// another type than it has, is a bug.
class DeviceProfileView {
 public:
  DeviceProfileView(std::span<const ProfileKey> keys, std::span<const DeviceSetting> given) : keys_(keys), given_(given) {}

  Duration duration(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::size_t word(std::string_view name) const;  ///< its place in the key's list
  std::string text(std::string_view name) const;

 private:
  const ProfileKey& key_of(std::string_view name) const;
  /// Null: not given.
  const ProfileValue* given(std::string_view name) const;

  std::span<const ProfileKey> keys_;
  std::span<const DeviceSetting> given_;
};

}  // namespace loom
