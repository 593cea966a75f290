"""A matrix product and a Mandelbrot set with pyopencl and numpy, as users of pyopencl write them.

Checks its own result; knows nothing of libsplit. With an argument, writes its results there.
"""

import sys

import numpy as np
import pyopencl as cl
import pyopencl.array

SOURCE = """
__kernel void product(const int n, __global const float *a, __global const float *b, __global float *c) {
  int column = get_global_id(0);
  int row = get_global_id(1);
  float sum = 0;
  for (int k = 0; k < n; ++k)
    sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

__kernel void mandelbrot(__global const float2 *q, __global ushort *output, ushort const limit) {
  int gid = get_global_id(0);
  float real = 0, imaginary = 0;
  output[gid] = 0;
  for (int i = 0; i < limit; i++) {
    float next = real * real - imaginary * imaginary + q[gid].x;
    imaginary = imaginary * real * 2 + q[gid].y;
    real = next;
    if (real * real + imaginary * imaginary > 4.0f) {
      output[gid] = i;
      return;
    }
  }
}
"""


def product(context, queue, program, n=256):
    random = np.random.default_rng(1)
    a = random.random((n, n), dtype=np.float32)
    b = random.random((n, n), dtype=np.float32)
    flags = cl.mem_flags
    a_buffer = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=a)
    b_buffer = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=b)
    c_buffer = cl.Buffer(context, flags.WRITE_ONLY, a.nbytes)
    for _ in range(3):
        program.product(queue, (n, n), None, np.int32(n), a_buffer, b_buffer, c_buffer)
    c = np.empty_like(a)
    cl.enqueue_copy(queue, c, c_buffer)
    assert np.allclose(c, a @ b, rtol=1e-4), "wrong product"
    return c


def mandelbrot(context, queue, program, side=256, limit=200):
    x = np.linspace(-2.0, 0.6, side, dtype=np.float32)
    y = np.linspace(-1.3, 1.3, side, dtype=np.float32)
    q = (x + 1j * y[:, None]).astype(np.complex64).ravel()
    q_array = cl.array.to_device(queue, q)
    counts = cl.array.zeros(queue, q.shape, np.uint16)
    for _ in range(3):
        program.mandelbrot(queue, q.shape, (64,), q_array.data, counts.data, np.uint16(limit))
    result = counts.get()

    expected = np.zeros(q.shape, np.uint16)
    z = np.zeros_like(q)
    alive = np.ones(q.shape, bool)
    for i in range(limit):
        z[alive] = z[alive] * z[alive] + q[alive]
        escaped = alive & (np.abs(z) > 2)
        expected[escaped] = i
        alive &= ~escaped
    assert (result != expected).mean() < 0.02, "that is not the Mandelbrot set"
    return result


def main():
    device = cl.get_platforms()[0].get_devices()[0]
    context = cl.Context([device])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    program = cl.Program(context, SOURCE).build()
    results = [product(context, queue, program), mandelbrot(context, queue, program)]
    queue.finish()
    if len(sys.argv) > 1:
        with open(sys.argv[1], "wb") as file:
            for result in results:
                file.write(result.tobytes())
    print("right")


main()
