// verdict: compiles, but must not
// error: never said
int main() {}
