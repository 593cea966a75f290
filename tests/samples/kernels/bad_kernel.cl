kernel void bad_kernel(global int* out) {
  out[get_global_id(0)] = undeclared_variable + MISSING_MACRO(3);
  int unfinished = ;
}
