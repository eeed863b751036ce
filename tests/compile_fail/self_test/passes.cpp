// verdict: passes
// error: the size is wrong
// error(g++): static assertion failed: .*the size
// error(clang): static(_| )assert.*the size
// first
// errors: 1
#ifdef CALQUE_POSITIVE_CONTROL
static_assert(sizeof(char) == 1, "the size is wrong");
#else
static_assert(sizeof(char) == 2, "the size is wrong");
#endif
