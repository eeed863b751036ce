// verdict: the positive control compiles with messages
// error: the size is wrong
#ifdef CALQUE_POSITIVE_CONTROL
#pragma GCC diagnostic warning "-Wall"
#pragma GCC diagnostic warning "-Wunused-variable"
void f() {
    int unused;
}
#else
static_assert(sizeof(char) == 2, "the size is wrong");
#endif
