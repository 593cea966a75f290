"""pyopencl's arrays, reductions, scans, sorts and random numbers. Writes all results to the file that is given."""

import sys

import numpy as np
import pyopencl as cl
import pyopencl.array as cla
import pyopencl.clmath as clmath
from pyopencl.algorithm import RadixSort, copy_if, partition, unique
from pyopencl.bitonic_sort import BitonicSort
from pyopencl.clrandom import PhiloxGenerator, ThreefryGenerator
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.reduction import ReductionKernel
from pyopencl.scan import GenericScanKernel

N = 1 << 16
context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
queue = cl.CommandQueue(context)
draw = np.random.default_rng(7)
places = cla.to_device(queue, draw.integers(0, N, N, dtype=np.int32))
results = []


def keep(array):
    results.append(np.ascontiguousarray(array.get() if hasattr(array, "get") else array))


x = cla.to_device(queue, draw.random(N, dtype=np.float32))
y = cla.to_device(queue, draw.random(N, dtype=np.float32))
integers = cla.to_device(queue, draw.integers(0, 1 << 20, N, dtype=np.int32))
for array in (x + y, x * 3 - y / 2, x ** 2, abs(x - y), clmath.sqrt(x), clmath.fmod(x, y + 1), cla.maximum(x, y),
              cla.if_positive(x - y, x, y), x.astype(np.float64),
              cla.take(x, places), cla.arange(queue, N, dtype=np.int32)):
    keep(array)
x += y
keep(x)
x.fill(2)
keep(x)
for array in (cla.sum(integers), cla.max(y), cla.min(y), cla.dot(integers, integers), cla.cumsum(integers)):
    keep(array)

axpy = ElementwiseKernel(context, "float a, float *x, float *y, float *z", "z[i] = a*x[i] + y[i]", "axpy")
z = cla.empty_like(y)
axpy(np.float32(3), x, y, z)
keep(z)
keep(ReductionKernel(context, np.int32, "0", "a+b", "x[i] % 7 == 3 ? 1 : 0", "__global const int *x")(integers))
prefix = integers.copy()
GenericScanKernel(context, np.int32, arguments="__global int *a", input_expr="a[i]", scan_expr="a+b", neutral="0",
                  output_statement="a[i] = item")(prefix)
keep(prefix)
largest = integers.copy()
GenericScanKernel(context, np.int32, arguments="__global int *a", input_expr="a[i]", scan_expr="max(a, b)", neutral="0",
                  output_statement="a[i] = i > 0 ? prev_item : 0")(largest)
keep(largest)
(ordered,), event = RadixSort(context, "int *a", key_expr="a[i]", sort_arg_names=["a"], key_dtype=np.int32)(
    integers, key_bits=20)
keep(ordered)
bitonic, event = BitonicSort(context)(integers.copy())
event.wait()
keep(bitonic)
chosen, count, event = copy_if(integers, "ary[i] < 1000")
keep(chosen[:int(count.get())])
low, high, count, event = partition(integers, "ary[i] > 500000")
keep(low[:int(count.get())])
single, count, event = unique(ordered)
keep(single[:int(count.get())])
for generator in (PhiloxGenerator(context, seed=5), ThreefryGenerator(context, seed=5)):
    keep(generator.uniform(queue, N, np.float32))
    keep(generator.normal(queue, N, np.float32))
    keep(generator.uniform(queue, N, np.int32, a=0, b=100))
with open(sys.argv[1], "wb") as file:
    for array in results:
        file.write(array.tobytes())
print(len(results), "results")
