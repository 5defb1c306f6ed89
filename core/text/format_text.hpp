// SPDX-License-Identifier: Apache-2.0
// format_text("job {} asks for {} nodes", id, count): how sentences, names and commands are put together, with libfmt. The
// format is checked against its values when it is compiled. What has more than one way to be printed it refuses: a physical
// quantity, an identity or an enumeration goes through its own to_string first, so that it reads the same in every sentence.
#pragma once

#include <fmt/core.h>

#include <string>
#include <type_traits>

namespace loom {

/// Whether format_text leaves no doubt how a value is printed: a double is asked for its digits, a flag for its words.
template <class T>
inline constexpr bool kPrintsOneWay =
    !std::is_floating_point_v<std::remove_cvref_t<T>> && !std::is_same_v<std::remove_cvref_t<T>, bool>;

/// `format` with each {} replaced by the value in its turn: integers in decimal, characters and text as they are. Values are
/// evaluated in no order. Not real-time safe (allocates); throws nothing but std::bad_alloc.
template <class... T>
std::string format_text(fmt::format_string<T...> format, T&&... values) {
  static_assert((... && kPrintsOneWay<T>), "print a double with the digits that it deserves, a bool in words");
  return fmt::vformat(format, fmt::make_format_args(values...));
}

}  // namespace loom
