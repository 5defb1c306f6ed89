// SPDX-License-Identifier: Apache-2.0
// What nearly every command includes beside the standard library, read once: the parser of the command line, and JSON.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cmake/std_pch.hpp"
