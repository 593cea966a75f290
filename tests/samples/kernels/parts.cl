kernel void add(global int* numbers, int addend) {
  numbers[get_global_id(0)] += addend;
}
kernel void scale(global int* numbers, int factor) {
  numbers[get_global_id(0)] *= factor;
}
