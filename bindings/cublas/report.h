// MYGEMM_REPORT=1: how many calls were taken and forwarded, by function, and the operations of
// their products, on stderr at the end.
#pragma once

#include "functions.h"

namespace mygemm::cublas {

// flop: the operations of the call's products, 0 where there are none.
void count(Function function, Outcome outcome, double flop);

// A device that a call runs on.
void note_device(int device);

}  // namespace mygemm::cublas
