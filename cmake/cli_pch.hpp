// SPDX-License-Identifier: Apache-2.0
// What nearly every command includes beside the standard library, read once: the parser of the command line, JSON, and the rows
// that it prints.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cmake/std_pch.hpp"
#include "core/message.hpp"
#include "core/messages/report_fields.hpp"
