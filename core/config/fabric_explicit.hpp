// The explicit form of a fabric file: its lists of nodes, elements, fibres, buses and devices. Inner header of
// fabric_file.cpp; nobody else includes it.
#pragma once

#include <string_view>

#include "core/config/yaml_reader.hpp"
#include "core/fabric.hpp"

namespace loom {

/// Reads the rest of `file` (all keys but schema_version and kind). Every reference by name is resolved or an error.
Fabric read_explicit(YamlMap& file, ErrorList& errors);

/// A comb of channels from four keys of `map`; on the G.694.1 grid, without overlap, within the C band.
ChannelPlan read_channels(YamlMap& map, const ChannelPlan& standard, std::string_view first, std::string_view spacing,
                          std::string_view width, std::string_view count);

/// `return_path: electrical | optical` of a fabric file.
ReturnPath read_return_path(YamlMap& file);

/// `signal_width` must fit a channel.
void check_signal_width(YamlMap& map, FrequencyOffset signal_width, const ChannelPlan& plan);

}  // namespace loom
