// SPDX-License-Identifier: Apache-2.0
// Requester: whom an answer goes to, and by what a repeated request is known again.
#pragma once

#include <string>

#include "core/message.hpp"

namespace loom {

struct Requester {
  Peer peer;
  std::string principal;
  RequestId request;
};

}  // namespace loom
