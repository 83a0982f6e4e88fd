// Of each list of types of a GoogleTest suite the first alone, or with LAST_TYPE the last, so that a suite compiles in a
// minute: `-include` it.
#pragma once

#include <gtest/gtest.h>

template <typename First_, typename Second_, typename... More_>
struct testing::internal::ProxyTypeList<First_, Second_, More_...> {
#if defined(LAST_TYPE)
  using type = typename ProxyTypeList<Second_, More_...>::type;
#else
  using type = Types<First_>;
#endif
};
