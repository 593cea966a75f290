kernel void add(global int* values, int addend) {
  values[get_global_id(0)] += addend;
}

kernel __attribute__((reqd_work_group_size(16, 2, 1))) void add_in_rows(global int* values,
                                                                        int addend) {
  values[get_global_id(1) * get_global_size(0) + get_global_id(0)] += addend;
}
