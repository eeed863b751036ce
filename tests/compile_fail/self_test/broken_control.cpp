// verdict: the positive control does not compile
// error: the size is wrong
static_assert(sizeof(char) == 2, "the size is wrong");
