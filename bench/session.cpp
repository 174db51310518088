// See session.h.
#include "session.h"

namespace bench {

Session::Session(const Options& wanted)
    : options(wanted),
      machine(wanted.backend),
      library(machine, wanted.math),
      telemetry(machine.pci_bus_id()) {
  if (!machine.cuda()) {
    cblas = Cblas::load(&no_peer);
    return;
  }
  const size_t workspace = static_cast<size_t>(options.cublas_workspace_mib) << 20;
  cublas = Cublas::load(machine, workspace, false, &no_peer);
  if (options.pedantic) {
    cublas_pedantic = Cublas::load(machine, workspace, true, &no_peer);
  }
}

}  // namespace bench
