// verdict: 2 error lines, at most 1 allowed
// error: one
// errors: 1
#ifndef CALQUE_POSITIVE_CONTROL
static_assert(sizeof(char) == 2, "one");
static_assert(sizeof(char) == 2, "two");
#endif
