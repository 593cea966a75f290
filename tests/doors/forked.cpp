// Splits launches, then forks. The child uses OpenCL too and exits as programs do; the parent goes
// without any exit handler, so that what is found afterwards is the child's doing.
#include "tests/doors/triple.h"

#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

int main() {
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
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 7);
}
