// What the files of the operators' desk share. For desk*.cpp only.
#pragma once

#include <vector>

#include "core/report.hpp"

namespace loom {

/// How two sets of circuits differ; equal ids are untouched light. Fills circuits, touched and changes.
ChangeReport change_between(const std::vector<Circuit>& before, const std::vector<Circuit>& after);

}  // namespace loom
