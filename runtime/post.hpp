// SPDX-License-Identifier: Apache-2.0
// Post: how a thread that is not the loop's hands a task to the loop's thread. Never runs the task before it returns.
#pragma once

#include <functional>

namespace loom {

using Post = std::function<void(std::function<void()> task)>;

}  // namespace loom
