// verdict: no error line matches: the previous one
// error: the previous one
#ifndef CALQUE_POSITIVE_CONTROL
struct the_previous_one {}; // the previous one: compilers quote this line below a note, not in an error line
struct the_previous_one {};
#endif
