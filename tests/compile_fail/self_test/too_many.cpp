// verdict: 5 error lines, at most 4 allowed
// error: one
#ifndef CALQUE_POSITIVE_CONTROL
static_assert(sizeof(char) == 2, "one");
static_assert(sizeof(char) == 2, "two");
static_assert(sizeof(char) == 2, "three");
static_assert(sizeof(char) == 2, "four");
static_assert(sizeof(char) == 2, "five");
#endif
