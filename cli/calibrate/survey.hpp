// SPDX-License-Identifier: Apache-2.0
// Carries a survey's steps to a running controller: light and heat are asked for, what came to the receivers is read. Whatever
// goes wrong, the light goes out.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/connection.hpp"
#include "controller/calibrate/light_survey.hpp"
#include "core/messages/operator.hpp"

namespace loom::cli {

/// All rows of a noun.
template <class Row>
Result<std::vector<Row>> rows_of(Connection& connection, Noun noun) {
  auto reply = connection.ask(Query{noun, {}});
  if (!reply) {
    return std::unexpected(reply.error());
  }
  return std::get<std::vector<Row>>(std::move(reply->rows));
}

/// Done when the revision stands; 0: at once. Errors: refused, it was not committed; timed_out.
Result<void> await_revision(Connection& connection, Revision revision, Duration timeout);

/// Until the survey is over and its light is out. `parts`: what Progress counts.
Result<void> run_survey(Connection& connection, const Globals& globals, std::string_view parts, LightSurvey& survey);

}  // namespace loom::cli
