// Links libOpenCL, the usual way. Built twice: plainly, and with an rpath to a copy of the loader.
#include "tests/doors/triple.h"

int main() {
  return door::triple(DOOR_LINKED_FUNCTIONS);
}
