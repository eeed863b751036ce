// verdict: the first error line does not match: the second
// error: the second
// first
#ifndef CALQUE_POSITIVE_CONTROL
static_assert(sizeof(char) == 2, "the first");
static_assert(sizeof(char) == 3, "the second");
#endif
