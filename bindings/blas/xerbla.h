// How BLAS reports a refused argument: through a routine that the program may replace.
#pragma once

namespace mygemm::blas {

// Calls xerbla_(routine, &position, length). Where the process has none: BLAS's message on stderr.
void call_xerbla(const char* routine, int position, const char* why);

// Calls cblas_xerbla(position, routine, why), or prints its message. position: sgemm_'s plus one;
// in a row-major call that of the exchanged operands, converted to the caller's.
void call_cblas_xerbla(const char* routine, int position, bool row_major, const char* why);

}  // namespace mygemm::blas
