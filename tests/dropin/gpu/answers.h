// The memory of the calls of cublas_answers, and a line for each call's answer.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <vector>

constexpr int kElements = 1 << 16;

inline float *a_memory, *b_memory, *c_memory;
inline float** pointers;        // two each of A, B and C
inline float** group_pointers;  // three each
inline long long lines = 0;

// Ends the program where something fails that is no answer.
void require(bool good, const char* what);

// With room around each.
void allocate();

// Resets all memory: cuBLAS writes out of bounds with some of the illegal arguments.
void reset(bool nan);

// A hash of C's memory, by pairs of floats from `first` to `end`.
unsigned long long digest_of_c(int first, int end);

// Prints a call's answer: its status and a digest of what it has written, by default of all of C.
void report(const std::string& function, const std::string& about, int status);
void report(const std::string& function, const std::string& about, int status,
            unsigned long long digest);

// The calls of cublasLtMatmul.
void ask_lt();
