// SPDX-License-Identifier: Apache-2.0
// Of whoever is no program: an archive's member is linked only where nobody defined its name before, as loom_build_version
// does.
#include "core/text/version.hpp"

namespace loom {

std::string_view build_version() { return LOOM_RELEASE; }

}  // namespace loom
