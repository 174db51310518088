// The second of two libraries that both have `mark`: see next_first.cpp.
extern "C" int mark() { return 2; }
