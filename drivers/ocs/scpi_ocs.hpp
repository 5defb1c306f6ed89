// SPDX-License-Identifier: Apache-2.0
// ScpiOcsDriver: a circuit switch that speaks SCPI, whose commands succeed in silence: what became of them says the error
// queue, and the map that is read back.
#pragma once

#include <string>

#include "drivers/ocs/ocs_driver.hpp"
#include "drivers/ocs/scpi_dialect.hpp"

namespace loom {

class ScpiOcsDriver final : public OcsDriver {
 public:
  explicit ScpiOcsDriver(OcsProfile profile, scpi::Dialect dialect = {})
      : OcsDriver(std::move(profile)), dialect_(std::move(dialect)) {}

 private:
  bool knows(OcsState state) const override;
  std::string text() const override;
  decltype(Transaction::order) order() const override;
  std::string question() const override;
  Answer absorb(Instant now, const BusReply& reply) override;
  Complaint misread(const BusReply& reply) const override;

  Answer absorb_identity(std::string_view text);
  Answer absorb_map(Instant now, std::string_view text);
  Answer absorb_errors(std::string_view text);
  Answer absorb_port_states(std::string_view text);

  scpi::Dialect dialect_;
};

/// The profile of a circuit switch that speaks SCPI, of the fabric.
OcsProfile ocs_profile(const Fabric& fabric, const Device& device);

extern const DriverModel kScpiOcs;

}  // namespace loom
