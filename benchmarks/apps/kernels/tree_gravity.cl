// Gravity by a tree (J. Barnes and P. Hut, 1986). Nodes come in depth-first order: a node's children
// follow it, and `skip` is what follows all of them. A leaf is one body, and its width is zero.

struct Node {
  float x, y, z, mass;
  float width;
  uint skip;
};

// Bodies in the tree's order, so that neighbours walk much the same way.
kernel void walk(uint bodies, uint nodes, float angle, float time, global const struct Node *tree,
                 global float4 *position, global float4 *velocity) {
  const uint i = get_global_id(0);
  if (i >= bodies)
    return;
  const float4 self = position[i];
  float4 force = 0.0f;
  for (uint n = 0; n < nodes;) {
    const struct Node node = tree[n];
    const float4 to = (float4)(node.x - self.x, node.y - self.y, node.z - self.z, 0.0f);
    const float square = dot(to, to);
    if (node.width * node.width < angle * angle * square || node.width == 0.0f) {
      const float softened = square + 1e-4f;
      force += to * (node.mass / (softened * sqrt(softened)));
      n = node.skip;
    } else {
      ++n;
    }
  }
  const float4 speed = velocity[i] + time * force;
  velocity[i] = speed;
  position[i] = self + time * speed; // the mass, in w, stays: no force has a w
}
