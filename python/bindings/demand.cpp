// SPDX-License-Identifier: Apache-2.0
// Demand: an N x N matrix of bytes that numpy and Lightloom look at together.
#include <pybind11/numpy.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "controller/workload/import/demand_file.hpp"
#include "core/text/format_text.hpp"
#include "python/bindings/module.hpp"

namespace loom::python {
namespace {

namespace py = pybind11;

using ByteMatrix = py::array_t<std::uint64_t, py::array::c_style>;

Failure unlawful(std::string sentence) { return {Error{ErrorCode::invalid_argument, std::move(sentence)}}; }

/// The array itself where it is one of uint64, C-contiguous; else a copy with the same numbers. Whole numbers from 0 on.
ByteMatrix matrix_of(const py::array& given) {
  if (py::isinstance<ByteMatrix>(given)) {
    return py::reinterpret_borrow<ByteMatrix>(given);
  }
  const char kind = given.dtype().kind();
  if (kind != 'i' && kind != 'u' && kind != 'f') {
    throw unlawful(format_text("a demand is of bytes: expected an array of numbers, not of dtype kind '{}'", kind));
  }
  const py::array_t<double, py::array::c_style | py::array::forcecast> numbers(given);
  const double* each = numbers.data();
  for (py::ssize_t i = 0; i < numbers.size(); ++i) {
    // The limit is the greatest double below 2^64; NaN compares as false.
    if (!(each[i] >= 0) || each[i] > 18446744073709549568.0 || each[i] != std::floor(each[i])) {
      throw unlawful(format_text("a demand is of whole bytes, 0 to 2^64: row {}, column {} has {}", i / numbers.shape(1),
                                 i % numbers.shape(1), std::string(py::str(py::float_(each[i])))));
    }
  }
  return py::array_t < std::uint64_t, py::array::c_style | py::array::forcecast > (given);
}

class Demand {
 public:
  explicit Demand(const py::array& given) : Demand(checked(given)) {}

  std::uint32_t nodes() const { return nodes_; }
  /// The same memory, which nobody can write through this view.
  py::array view() const {
    py::array array =
        py::array(bytes_.dtype(), {nodes_, nodes_}, {bytes_.strides(0), bytes_.strides(1)}, bytes_.data(), bytes_);
    array.attr("flags").attr("writeable") = false;
    return array;
  }
  py::buffer_info buffer() const {
    return {const_cast<std::uint64_t*>(bytes_.data()),
            sizeof(std::uint64_t),
            py::format_descriptor<std::uint64_t>::format(),
            2,
            {nodes_, nodes_},
            {bytes_.strides(0), bytes_.strides(1)},
            true};
  }

 private:
  explicit Demand(ByteMatrix bytes) : bytes_(std::move(bytes)), nodes_(static_cast<std::uint32_t>(bytes_.shape(0))) {}

  static ByteMatrix checked(const py::array& given) {
    if (given.ndim() != 2 || given.shape(0) != given.shape(1) || given.shape(0) < 2 || given.shape(0) > kDemandNodes) {
      std::string shape;
      for (py::ssize_t axis = 0; axis < given.ndim(); ++axis) {
        shape += format_text("{}{}", axis == 0 ? "" : " x ", given.shape(axis));
      }
      throw unlawful(format_text("a demand is N x N, row = source, column = destination, N from 2 to {}: this array is {}",
                                 kDemandNodes, shape.empty() ? "a single number" : shape));
    }
    ByteMatrix bytes = matrix_of(given);
    bool moves = false;
    for (py::ssize_t row = 0; row < bytes.shape(0); ++row) {
      if (*bytes.data(row, row) != 0) {
        throw unlawful(
            format_text("node {} sends {} bytes to itself; the diagonal of a demand is 0", row, *bytes.data(row, row)));
      }
      for (py::ssize_t column = 0; column < bytes.shape(1); ++column) {
        moves = moves || *bytes.data(row, column) != 0;
      }
    }
    if (!moves) {
      throw unlawful("a demand moves something: all of this one is 0");
    }
    return bytes;
  }

  ByteMatrix bytes_;
  std::uint32_t nodes_ = 0;
};

}  // namespace

void bind_demand(py::module_& module) {
  py::class_<Demand>(module, "Demand", py::buffer_protocol())
      .def(py::init<const py::array&>(), py::arg("bytes"))
      .def_property_readonly("nodes", &Demand::nodes)
      .def("view", &Demand::view)
      .def_buffer(&Demand::buffer);
}

}  // namespace loom::python
