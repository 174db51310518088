// The overhead of mygemm besides its kernels: handles, and the host's part of a call.
#pragma once

#include "report.h"
#include "session.h"

namespace bench {

void measure_overhead(Session* session, Report* report);

}  // namespace bench
