kernel void add_two(global int* one) { *one += 2; }

kernel void add_two_each(global int* numbers) { numbers[get_global_id(0)] += 2; }

kernel void add_up(global int* sum, global const int* one) { *sum += *one; }

kernel void scale(int factor, global const int* in, global int* out) {
  const int i = get_global_id(0);
  out[i] = in[i] * factor;
}
