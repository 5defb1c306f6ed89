// SPDX-License-Identifier: Apache-2.0
// OneOf<Ts...>: a std::variant whose copies, moves, comparison and end are compiled once, in the file that defines it, and not
// in each of the hundreds that include its header. Use it as the variant that it is: std::get_if, std::visit and the like.
#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace loom {

/// Its members are defined in core/messages/one_of_members.hpp; one .cpp includes that and says `template class
/// loom::OneOf<...>`.
template <class... Ts>
class OneOf : public std::variant<Ts...> {
 public:
  OneOf();
  OneOf(const OneOf& other);
  OneOf(OneOf&& other) noexcept;
  OneOf& operator=(const OneOf& other);
  OneOf& operator=(OneOf&& other) noexcept;
  ~OneOf();

  /// Of exactly one of the types: what it converts to is for the caller to say.
  template <class T>
    requires(std::is_same_v<T, Ts> || ...)
  OneOf(T value) : OneOf() {
    hold(std::move(value));
  }

  bool operator==(const OneOf& other) const
    requires(std::equality_comparable<Ts> && ...);

 private:
  template <class T>
  void hold(T&& value);

  /// So that each hold() is compiled with the members.
  static const std::tuple<void (OneOf::*)(Ts&&)...> kHolders;
};

}  // namespace loom

template <class... Ts>
struct std::variant_size<loom::OneOf<Ts...>> : std::variant_size<std::variant<Ts...>> {};

template <std::size_t Index, class... Ts>
struct std::variant_alternative<Index, loom::OneOf<Ts...>> : std::variant_alternative<Index, std::variant<Ts...>> {};
