// SPDX-License-Identifier: Apache-2.0
// The members of OneOf. Only the file that instantiates one includes this.
#pragma once

#include "core/messages/one_of.hpp"

namespace loom {

template <class... Ts>
OneOf<Ts...>::OneOf() = default;
template <class... Ts>
OneOf<Ts...>::OneOf(const OneOf& other) = default;
template <class... Ts>
OneOf<Ts...>::OneOf(OneOf&& other) noexcept = default;
template <class... Ts>
OneOf<Ts...>& OneOf<Ts...>::operator=(const OneOf& other) = default;
template <class... Ts>
OneOf<Ts...>& OneOf<Ts...>::operator=(OneOf&& other) noexcept = default;
template <class... Ts>
OneOf<Ts...>::~OneOf() = default;

template <class... Ts>
bool OneOf<Ts...>::operator==(const OneOf& other) const
  requires(std::equality_comparable<Ts> && ...)
{
  return static_cast<const std::variant<Ts...>&>(*this) == static_cast<const std::variant<Ts...>&>(other);
}

template <class... Ts>
template <class T>
void OneOf<Ts...>::hold(T&& value) {
  this->template emplace<std::remove_cvref_t<T>>(std::move(value));
}

template <class... Ts>
const std::tuple<void (OneOf<Ts...>::*)(Ts&&)...> OneOf<Ts...>::kHolders{&OneOf::template hold<Ts>...};

}  // namespace loom
