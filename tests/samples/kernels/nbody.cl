// One leapfrog step of n bodies that attract each other; .w of a position is the mass.
kernel void nbody(int n, float dt, float softening, global const float4* position,
                  global const float4* velocity, global float4* nextPosition,
                  global float4* nextVelocity) {
  const int i = get_global_id(0);
  const float4 here = position[i];
  float3 force = (float3)(0.0f);
  for (int j = 0; j < n; ++j) {
    const float4 there = position[j];
    const float3 d = there.xyz - here.xyz;
    const float r = rsqrt(dot(d, d) + softening);
    force += d * (there.w * r * r * r);
  }
  const float3 speed = velocity[i].xyz + force * dt;
  nextVelocity[i] = (float4)(speed, 0.0f);
  nextPosition[i] = (float4)(here.xyz + speed * dt, here.w);
}
