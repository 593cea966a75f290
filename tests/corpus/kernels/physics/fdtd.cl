// Yee's scheme: three fields on staggered grids, each updated from the others in place.
//@ splits update_h
//@ splits update_e
//@ buffer ez 65*49*4 float 1
//@ buffer hx 65*49*4 float 2
//@ buffer hy 65*49*4 float 3
//@ for t 0..5
//@ run update_h g=64,48 l=16,4 : ez hx hy int=65
//@ run update_e g=64,48 l=16,4 : ez hx hy int=65 int=$t
//@ end
kernel void update_h(global const float* ez, global float* hx, global float* hy, int pitch) {
  int x = get_global_id(0), y = get_global_id(1), i = y * pitch + x;
  hx[i] -= 0.5f * (ez[i + pitch] - ez[i]);
  hy[i] += 0.5f * (ez[i + 1] - ez[i]);
}
kernel void update_e(global float* ez, global const float* hx, global const float* hy, int pitch, int t) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x == 0 || y == 0)
    return;
  int i = mad24(y, pitch, x);
  ez[i] += 0.5f * ((hy[i] - hy[i - 1]) - (hx[i] - hx[i - pitch]));
  if (x == 32 && y == 24)
    ez[i] += sin(0.3f * t);
}
