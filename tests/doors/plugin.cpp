// A plugin that links libOpenCL, for a host that does not.
#include "tests/doors/triple.h"

extern "C" int runPlugin() {
  return door::triple(DOOR_LINKED_FUNCTIONS);
}
