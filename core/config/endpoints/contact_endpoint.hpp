// SPDX-License-Identifier: Apache-2.0
// The one line by which a fabric file says where an interlock contact is read.
#pragma once

#include <string_view>

#include "core/fabric/contact.hpp"
#include "core/result.hpp"

namespace loom {

/// gpio:///dev/gpiochip0/17?active=low|high&bias=as-is|disabled|pull-up|pull-down
/// modbus-tcp://HOST:PORT/UNIT/INPUT
/// modbus-rtu:///dev/ttyUSB0/UNIT/INPUT?baud=9600&parity=N|E|O&stop=1|2 (or serial:///...)
/// file:///PATH
/// Each with poll=10ms, lost=250ms, settle=50ms (ContactTimings). Touches nothing. Errors: invalid_config, naming the endpoint
/// and what is expected.
Result<ContactEndpoint> parse_contact_endpoint(std::string_view text);

}  // namespace loom
