// verdict: no error line matches: the shape is wrong
// error: the shape is wrong
#ifndef CALQUE_POSITIVE_CONTROL
static_assert(sizeof(char) == 2, "the size is wrong");
#endif
