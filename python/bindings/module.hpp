// SPDX-License-Identifier: Apache-2.0
// What the parts of Python's module _lightloom share: errors of ours as exceptions, and JSON as text, which Python reads
// itself. Whatever takes longer than a moment runs without the interpreter's lock.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <utility>

#include "core/result.hpp"

namespace loom::python {

/// Raised as lightloom.Error: the sentence, `.code` as JSON and exit codes have it, `.hint`: what to do next.
struct Failure {
  Error error;
};

/// The value, or a Failure.
template <class Value>
Value value_of(Result<Value> result) {
  if (!result) {
    throw Failure{std::move(result).error()};
  }
  if constexpr (!std::is_void_v<Value>) {
    return *std::move(result);
  }
}

/// `work` without the interpreter's lock. It touches no Python object.
template <class Work>
auto unlocked(Work work) {
  const pybind11::gil_scoped_release released;
  return work();
}

void bind_fabric(pybind11::module_& module);
void bind_demand(pybind11::module_& module);
void bind_offline(pybind11::module_& module);
void bind_client(pybind11::module_& module);

}  // namespace loom::python
