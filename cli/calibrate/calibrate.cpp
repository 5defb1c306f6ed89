// SPDX-License-Identifier: Apache-2.0
// A campaign over a connection, and what was found as a calibration.
#include "cli/calibrate/calibrate.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>

#include "cli/calibrate/survey.hpp"
#include "cli/command_line.hpp"
#include "cli/connection.hpp"
#include "cli/naming.hpp"
#include "cli/nouns/request.hpp"
#include "cli/render/json.hpp"
#include "cli/render/term.hpp"
#include "controller/calibrate/campaign.hpp"
#include "controller/calibrate/laser_survey.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct CalibrateOptions {
  std::vector<std::string> banks;
  bool all = false;
  bool lasers = false;
  bool forget = false;
  bool wait = false;
};

/// Devices that the words stand for: banks, or rings of them.
Result<std::set<DeviceId>> banks_named(const CalibrateOptions& order, const std::vector<RingReport>& rings,
                                       const std::vector<DeviceReport>& devices) {
  std::set<DeviceId> banks;
  for (const RingReport& ring : rings) {
    if (order.all) {
      banks.insert(ring.bank);
    }
  }
  std::vector<NamedRow> names;
  for (const DeviceReport& device : devices) {
    if (device.role == DeviceRole::filter) {
      names.push_back({device.device.value, device.name});
    }
  }
  for (const RingReport& ring : rings) {
    names.push_back({ring.bank.value, ring.name});
  }
  for (const std::string& word : order.banks) {
    const bool is_number = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos && word.size() < 9;
    const auto bank = is_number ? Result<std::uint64_t>(std::stoull(word)) : pick("ring", word, names);
    if (!bank) {
      return std::unexpected(bank.error());
    }
    const DeviceId id{static_cast<std::uint32_t>(*bank)};
    if (std::ranges::find(rings, id, &RingReport::bank) == rings.end()) {
      return fail(ErrorCode::invalid_argument, format_text("device {} is no bank of rings", id.value), "loom ring list");
    }
    banks.insert(id);
  }
  return banks;
}

Json troubles_json(const std::vector<RingTrouble>& troubles) {
  Json list = Json::array();
  for (const RingTrouble& trouble : troubles) {
    list.push_back({{"device", trouble.bank.value}, {"ring", trouble.ring}, {"why", trouble.why}});
  }
  return list;
}

int finish(const Globals& globals, Connection& connection, const Campaign& campaign, Duration took, bool wait) {
  Calibrate ask{campaign.calibrations(), false, {}};
  std::size_t rings = 0;
  FrequencyOffset worst{0};
  for (const DeviceCalibration& bank : ask.banks) {
    rings += bank.rings.size();
    worst = std::max(worst, residual_of(bank));
  }
  Revision revision{};
  const std::size_t banks = ask.banks.size();
  if (banks > 0) {
    const auto reply = connection.ask(std::move(ask));
    if (!reply) {
      return give_up(reply.error());
    }
    revision = reply->revision;
  }
  for (const RingTrouble& trouble : campaign.troubles()) {
    print_note(format_text("{} (device {}) is not calibrated: {}", trouble.ring, trouble.bank.value, trouble.why));
  }
  if (globals.json) {
    auto object = answer();
    object["banks"] = banks;
    object["rings"] = rings;
    object["looks"] = campaign.steps();
    object["took_s"] = std::chrono::duration<double>(took).count();
    object["residual_ghz"] = static_cast<double>(worst.mhz) / 1e3;
    object["revision"] = revision.value;
    object["troubles"] = troubles_json(campaign.troubles());
    print(object);
  } else {
    std::printf("%zu rings of %zu banks calibrated in %zu looks, %s; the worst residual is %.2f GHz\n", rings, banks,
                campaign.steps(), text_of(took).c_str(), static_cast<double>(worst.mhz) / 1e3);
  }
  if (wait && revision.value != 0) {
    if (const auto stands = await_revision(connection, revision, globals.timeout); !stands) {
      return give_up(stands.error());
    }
  }
  if (!campaign.troubles().empty()) {
    return give_up(
        {ErrorCode::refused, format_text("{} rings were not calibrated", campaign.troubles().size()), "loom calibration list"});
  }
  return kDone;
}

int say_what_would(const Globals& globals, const std::set<DeviceId>& banks, const Campaign& campaign) {
  const ProbeLight first = campaign.is_over() ? ProbeLight{} : campaign.ask();
  if (globals.json) {
    auto object = answer();
    object["banks"] = banks.size();
    object["lights_at_once"] = first.probes.size();
    object["heaters_at_once"] = first.drives.size();
    object["troubles"] = troubles_json(campaign.troubles());
    print(object);
    return kDone;
  }
  for (const RingTrouble& trouble : campaign.troubles()) {
    print_note(format_text("{} (device {}) cannot be measured: {}", trouble.ring, trouble.bank.value, trouble.why));
  }
  std::printf("would measure %zu banks, first by %zu lights on %zu rings at once; nothing was done\n", banks.size(),
              first.probes.size(), first.drives.size());
  return kDone;
}

int forget(const Globals& globals, Connection& connection, const std::set<DeviceId>& banks, bool wait) {
  Calibrate ask{{}, globals.dry_run, {}};
  for (const DeviceId bank : banks) {
    ask.banks.push_back({bank, 0, {}, {}, {}, {}});
  }
  const auto reply = connection.ask(std::move(ask));
  return reply ? conclude(globals, connection, *reply, wait, format_text("{} devices are as the fabric says", banks.size()))
               : give_up(reply.error());
}

/// Of a table: from the least to the most.
/// How far beside its figures and its channels light is; frequencies only where a wavemeter saw them.
std::string span_of(const std::vector<MeasuredChannel>& lights) {
  if (lights.empty()) {
    return {};
  }
  const auto [least, most] = std::ranges::minmax(lights, {}, &MeasuredChannel::offset);
  std::string text =
      format_text("; light is {} to {} beside its figures", loom::to_string(least.offset), loom::to_string(most.offset));
  std::vector<std::int64_t> detunings;
  for (const MeasuredChannel& light : lights) {
    if (light.detuning) {
      detunings.push_back(light.detuning->mhz);
    }
  }
  if (!detunings.empty()) {
    const auto [lowest, highest] = std::ranges::minmax(detunings);
    text += format_text(" and {} to {} MHz beside its channels ({} of them seen by a wavemeter)", lowest, highest,
                        detunings.size());
  }
  return text;
}

int finish_lasers(const Globals& globals, Connection& connection, const LaserSurvey& survey, Duration took, bool wait) {
  Revision revision{};
  std::set<ElementId> lasers;
  for (const MeasuredChannel& light : survey.measured()) {
    lasers.insert(light.transmitter);
  }
  if (!survey.measured().empty()) {
    Calibrate ask;
    ask.channels = survey.measured();
    const auto reply = connection.ask(std::move(ask));
    if (!reply) {
      return give_up(reply.error());
    }
    revision = reply->revision;
  }
  Json troubles = Json::array();
  for (const UnmeasuredLight& each : survey.unmeasured()) {
    const std::string frequency = loom::to_string(centre_of(each.light.slot));
    troubles.push_back({{"transmitter", each.light.transmitter.value},
                        {"receiver", each.light.receiver.value},
                        {"frequency_mhz", centre_of(each.light.slot).mhz},
                        {"why", each.why}});
    print_note(format_text("transmitter {} at {} was not measured at receiver {}: {}", each.light.transmitter.value, frequency,
                           each.light.receiver.value, each.why));
  }
  if (globals.json) {
    auto object = answer();
    object["lasers"] = lasers.size();
    object["channels"] = survey.measured().size();
    object["looks"] = survey.steps();
    object["took_s"] = std::chrono::duration<double>(took).count();
    object["revision"] = revision.value;
    object["troubles"] = troubles;
    print(object);
  } else {
    std::printf("%zu channels of %zu lasers measured in %zu looks, %s%s\n", survey.measured().size(), lasers.size(),
                survey.steps(), text_of(took).c_str(), span_of(survey.measured()).c_str());
  }
  if (wait && revision.value != 0) {
    if (const auto stands = await_revision(connection, revision, globals.timeout); !stands) {
      return give_up(stands.error());
    }
  }
  return survey.unmeasured().empty()
             ? kDone
             : give_up({ErrorCode::refused, format_text("{} channels were not measured", survey.unmeasured().size()),
                        "loom calibration list"});
}

int calibrate_lasers(const Globals& globals, const CalibrateOptions& order) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  if (order.forget) {
    const auto devices = rows_of<DeviceReport>(*connection, Noun::devices);
    if (!devices) {
      return give_up(devices.error());
    }
    std::set<DeviceId> lasers;
    for (const DeviceReport& device : *devices) {
      if (device.role == DeviceRole::transmitter) {
        lasers.insert(device.device);
      }
    }
    return forget(globals, *connection, lasers, order.wait);
  }
  const auto ways = rows_of<WayReport>(*connection, Noun::ways);
  if (!ways) {
    return give_up(ways.error());
  }
  LaserSurvey survey(*ways);
  if (survey.is_over()) {
    return give_up({ErrorCode::not_found,
                    "no laser that is free has a way to a receiver whose light is measured: stop jobs, or drain nodes",
                    "loom device list"});
  }
  if (globals.dry_run) {
    std::printf("would measure %zu channels, first by %zu lights at once; nothing was done\n", survey.all(),
                survey.ask().probes.size());
    return kDone;
  }
  const auto begun = Clock::now();
  if (const auto done = run_survey(*connection, globals, "channels measured", survey); !done) {
    return give_up(done.error());
  }
  return finish_lasers(globals, *connection, survey, Clock::now() - begun, order.wait);
}

int calibrate(const Globals& globals, const CalibrateOptions& order) {
  if (order.all + order.lasers + !order.banks.empty() != 1) {
    return give_up({ErrorCode::invalid_argument, "name banks, or say --all or --lasers", "loom device calibrate --help"});
  }
  if (order.lasers) {
    return calibrate_lasers(globals, order);
  }
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto rings = rows_of<RingReport>(*connection, Noun::rings);
  const auto devices = rings ? rows_of<DeviceReport>(*connection, Noun::devices) : std::unexpected(rings.error());
  const auto known = devices ? rows_of<CalibrationReport>(*connection, Noun::calibrations) : std::unexpected(devices.error());
  if (!known) {
    return give_up(known.error());
  }
  const auto banks = banks_named(order, *rings, *devices);
  if (!banks) {
    return give_up(banks.error());
  }
  if (banks->empty()) {
    return give_up({ErrorCode::not_found, "this fabric has no banks of rings", "loom device list"});
  }
  if (order.forget) {
    return forget(globals, *connection, *banks, order.wait);
  }
  std::vector<RingReport> wanted;
  std::ranges::copy_if(*rings, std::back_inserter(wanted), [&](const RingReport& ring) { return banks->contains(ring.bank); });
  std::vector<DeviceCalibration> before;
  for (const CalibrationReport& row : *known) {
    if (row.in_force) {
      before.push_back(row.calibration);
    }
  }
  Campaign campaign(wanted, before);
  if (globals.dry_run) {
    return say_what_would(globals, *banks, campaign);
  }
  const auto begun = Clock::now();
  if (const auto done = run_survey(*connection, globals, "banks measured", campaign); !done) {
    return give_up(done.error());
  }
  return finish(globals, *connection, campaign, Clock::now() - begun, order.wait);
}

}  // namespace

void add_calibrate(CLI::App& device, CommandLine& line) {
  auto& options = line.keep<CalibrateOptions>();
  CLI::App* verb = device.add_subcommand("calibrate", "Find by light where the rings of a bank stand, and what lasers bring");
  verb->add_option("BANK", options.banks, "Numbers or names of banks, or of rings in them: a bank is measured as a whole");
  verb->add_flag("--all", options.all, "All banks of the fabric, side by side as far as their lights have ways");
  verb->add_flag(
      "--lasers", options.lasers,
      "How much light of each laser that is free arrives, channel by channel, and where it stands: plans level it by that");
  verb->add_flag("--forget", options.forget, "Measure nothing: the devices are as the fabric says again");
  add_change_flags(*verb, line, options.wait);
  verb->footer(
      "Rings that carry circuits are not measured: drain their nodes first. Lights go out when this ends, or 30 s\n"
      "after it was interrupted (probe_lease).");
  line.when(*verb, calibrate, options);
}

}  // namespace loom::cli
