// MYGEMM_REPORT=1: how many calls were taken and forwarded, by function, on stderr at the end.
#pragma once

#include "functions.h"

namespace mygemm::cublas {

void count(Function function, Outcome outcome);

}  // namespace mygemm::cublas
