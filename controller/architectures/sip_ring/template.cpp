// SPDX-License-Identifier: Apache-2.0
// Parameters of SiP-Ring's fabric in a file, and what must hold between them.
#include "controller/architectures/sip_ring/fabric.hpp"

#include <array>
#include <string>

#include "core/config/template_keys.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::array<TemplateKey, 16> kKeys{{{"nodes", "how many"},
                                             {"rings", "parallel rings of fibre pairs"},
                                             {"first_channel", "the lowest: its centre, THz on the grid of ITU-T G.694.1"},
                                             {"channel_spacing", "GHz, on the grid"},
                                             {"channel_width", "GHz"},
                                             {"channels", "how many"},
                                             {"filter_fwhm", "passband of a ring filter, GHz"},
                                             {"filters_per_bank", "channels of a heater bank"},
                                             {"hop_length", "of fibre between neighbours, m"},
                                             {"hop_loss", "between neighbours, dB"},
                                             kRateKey,
                                             kSignalWidthKey,
                                             kLaserControlKey,
                                             kLaserRetuneKey,
                                             kLaserBlankKey,
                                             kAcquisitionKey}};

void check_filters(YamlMap& map, const SipRingParameters& ring, const ChannelPlan& plan) {
  const FrequencyOffset spacing{plan.step_n * kGridStep.mhz};
  if (ring.filter_fwhm < ring.signal_width || ring.filter_fwhm >= spacing) {
    map.error("filter_fwhm", format_text("filter_fwhm: found {}; expected at least signal_width = {} and less than "
                                         "channel_spacing = {} (a cold filter stands half a channel beside its light)",
                                         print_quantity(ring.filter_fwhm.mhz, kFrequencyOffsetUnits),
                                         print_quantity(ring.signal_width.mhz, kFrequencyOffsetUnits),
                                         print_quantity(spacing.mhz, kFrequencyOffsetUnits)));
  }
  const std::uint32_t banks = (ring.wavelengths + ring.filters_per_bank - 1) / ring.filters_per_bank;
  if (ring.wavelengths + banks > limits::kDevicesPerNode) {
    map.error("channels", format_text("channels: {} lasers and {} heater banks a node; expected at most {} devices a node",
                                      ring.wavelengths, banks, limits::kDevicesPerNode));
  }
}

Fabric read_sip_ring(YamlMap& map, const ErrorList& errors) {
  SipRingParameters ring;
  ring.nodes = static_cast<std::uint32_t>(map.integer("nodes", {2, kTemplateNodesMost}, std::int64_t{ring.nodes}));
  ring.rings = static_cast<std::uint32_t>(map.integer("rings", {1, 64}, std::int64_t{ring.rings}));
  const auto channels = static_cast<std::int32_t>(ring.wavelengths / (2 * 2));
  const ChannelPlan standard{{ring.first_channel_n, ring.channel_width_m}, ring.channel_step_n, channels};
  const ChannelPlan plan = read_channels(map, standard, "first_channel", "channel_spacing", "channel_width", "channels");
  ring.first_channel_n = plan.first.n;
  ring.channel_width_m = plan.first.m;
  ring.channel_step_n = plan.step_n;
  ring.wavelengths = 2 * ring.rings * static_cast<std::uint32_t>(plan.count);
  ring.filter_fwhm = map.offset("filter_fwhm", kSignalWidth, ring.filter_fwhm);
  ring.filters_per_bank = static_cast<std::uint32_t>(map.integer(
      "filters_per_bank", {1, static_cast<std::int64_t>(limits::kRingsPerBank)}, std::int64_t{ring.filters_per_bank}));
  ring.hop_length_mm = map.quantity("hop_length", kLengthUnits, kFibreLengthMm, ring.hop_length_mm);
  ring.hop_loss = map.ratio("hop_loss", {Db{0}, Db{2'000}}, ring.hop_loss);
  read_ends(map, ring);
  check_signal_width(map, ring.signal_width, plan);
  check_filters(map, ring, plan);
  check_elements(map, ring.nodes, 3ULL * ring.wavelengths);
  map.finish();
  return errors.empty() ? make_sip_ring(ring) : Fabric{};
}

}  // namespace

const FabricTemplate kSipRingTemplate{"sip_ring", "rings of fibre with an add/drop filter a node and wavelength", kKeys,
                                      read_sip_ring};

}  // namespace loom
