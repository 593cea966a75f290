// Splits launches, then forks, several times over. The children use OpenCL too and exit as programs
// do; the parent goes without any exit handler, so that what is found afterwards is the children's
// doing. It forks right after it has released everything, when a library that works behind its back
// may still be with the driver.
#include "tests/doors/triple.h"

#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

int main() {
  for (int forks = 0; forks < 12; ++forks) {
    if (int status = door::triple(DOOR_LINKED_FUNCTIONS))
      return status;
    const pid_t child = fork();
    if (child < 0)
      return 5;
    if (child == 0)
      std::exit(door::triple(DOOR_LINKED_FUNCTIONS));
    int status = 0;
    if (waitpid(child, &status, 0) != child)
      _exit(6);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 7);
  }
  _exit(0);
}
