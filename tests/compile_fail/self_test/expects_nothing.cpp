// verdict: names no expected error for this compiler
// error(another): only for a compiler that is not in use
static_assert(sizeof(char) == 2, "the size is wrong");
