// The Configs and figures of all operations, for the loop over an operation's kernels.
#pragma once

#include "kernels/cross_entropy/config.h"
#include "kernels/gemm/config.h"
#include "kernels/grouped/config.h"
#include "kernels/softmax/config.h"
#include "kernels/transpose/config.h"
