# Python3_EXECUTABLE for all tests: the interpreter itself. What is called python3 may be a script that looks for it, which
# takes longer than most tests.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sys; print(sys.executable, end='')"
                OUTPUT_VARIABLE Python3_EXECUTABLE COMMAND_ERROR_IS_FATAL ANY)
