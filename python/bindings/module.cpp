// SPDX-License-Identifier: Apache-2.0
// The module and its exception.
#include "python/bindings/module.hpp"

#include "core/text/version.hpp"

namespace loom::python {
namespace {

namespace py = pybind11;

/// lightloom.Error, made by Python so that it is a plain class there.
py::object& error_type() {
  static auto* type = new py::object;  // NOLINT: it must outlive the interpreter's end, as the module does
  return *type;
}

void raise(const Failure& failure) {
  const py::object error = error_type()(failure.error.message);
  error.attr("code") = std::string(to_string(failure.error.code));
  error.attr("hint") = failure.error.next_command;
  PyErr_SetObject(error_type().ptr(), error.ptr());
}

}  // namespace

PYBIND11_MODULE(_lightloom, module) {
  module.doc() = "The rooms of Lightloom as they are compiled. Import lightloom, not this.";
  error_type() = py::module_::import("lightloom._error").attr("Error");
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) {
        std::rethrow_exception(thrown);
      }
    } catch (const Failure& failure) {
      raise(failure);
    }
  });
  bind_fabric(module);
  bind_demand(module);
  bind_offline(module);
  bind_client(module);
}

}  // namespace loom::python
