// The attention block of a transformer over `size` tokens: queries, keys and values by matrix
// products, scores and softmax by rows for each of four heads, what they blend, and a last product.
// Later tokens attend to more others, so that the last rows take the longest.
#include "kernels/attention.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <cmath>

namespace {

constexpr std::size_t heads = 4, headWidth = 32, width = heads * headWidth;
constexpr std::size_t groupSize = 64;

using Rows = std::vector<double>;

Rows product(const Rows& in, const std::vector<float>& weights) {
  Rows out(in.size());
  sample::inParallel(
      in.size() / width,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin * width; i < end * width; ++i)
          for (std::size_t k = 0; k < width; ++k)
            out[i] += in[i / width * width + k] * weights[k * width + i % width];
      },
      16);
  return out;
}

/// What a token's heads blend.
Rows blended(const Rows& queries, const Rows& keys, const Rows& values, std::size_t token) {
  Rows out(width), scores(token + 1);
  for (std::size_t head = 0; head < heads; ++head) {
    double total = 0;
    for (std::size_t other = 0; other <= token; ++other) {
      double sum = 0;
      for (std::size_t k = head * headWidth; k < (head + 1) * headWidth; ++k)
        sum += queries[token * width + k] * keys[other * width + k];
      scores[other] = std::exp(sum / std::sqrt(headWidth));
      total += scores[other];
    }
    for (std::size_t other = 0; other <= token; ++other)
      for (std::size_t k = head * headWidth; k < (head + 1) * headWidth; ++k)
        out[k] += scores[other] / total * values[other * width + k];
  }
  return out;
}

void attention(sample::Sample& s) {
  const std::size_t tokens = std::max<std::size_t>(s.options().size, 1);
  const std::vector<float> in = s.randomFloats(tokens * width, -1.7F, 1.7F, 1);
  std::vector<std::vector<float>> weights;
  for (std::uint64_t k = 0; k < 4; ++k)
    weights.push_back(s.randomFloats(width * width, -0.15F, 0.15F, 2 + k));

  const auto queue = s.queue();
  const auto program = s.program(sample::attentionSource, "-D WIDTH=32");
  const auto project = sample::kernel(program, "project");
  const auto score = sample::kernel(program, "score");
  const auto softmax = sample::kernel(program, "softmax");
  const auto blend = sample::kernel(program, "blend");
  const auto input = s.copyOf(in, CL_MEM_READ_ONLY);
  const auto toQueries = s.copyOf(weights[0]), toKeys = s.copyOf(weights[1]),
             toValues = s.copyOf(weights[2]), toOutput = s.copyOf(weights[3]);
  const auto queries = s.array<float>(in.size()), keys = s.array<float>(in.size()),
             values = s.array<float>(in.size()), between = s.array<float>(in.size()),
             output = s.array<float>(in.size());
  const auto scores = s.array<float>(heads * tokens * tokens);
  const auto count = static_cast<cl_uint>(tokens), columns = static_cast<cl_uint>(width);
  const sample::Sizes local = {16, 4}, global = {width, sample::roundUp(tokens, local[1])};
  auto enqueueProject = [&](const sample::Memory& from, const sample::Memory& by,
                            const sample::Memory& to) {
    sample::setArguments(project, count, columns, from, by, to);
    sample::launch(queue, project, global, local);
  };
  sample::setArguments(score, count, columns, queries, keys, scores);
  sample::setArguments(softmax, count, scores, sample::Local{groupSize * sizeof(float)});
  sample::setArguments(blend, count, columns, scores, values, between);
  for (unsigned i = 0; i < s.options().iterations; ++i)
    s.timed(queue, [&] {
      enqueueProject(input, toQueries, queries);
      enqueueProject(input, toKeys, keys);
      enqueueProject(input, toValues, values);
      sample::launch(queue, score, {sample::roundUp(tokens, local[0]), global[1], heads},
                     {local[0], local[1], 1});
      sample::launch(queue, softmax, {heads * tokens * groupSize}, {groupSize});
      sample::launch(queue, blend, global, local);
      enqueueProject(between, toOutput, output);
    });

  std::vector<float> result(in.size());
  sample::read(queue, output, result);
  s.verify([&] {
    const Rows rows(in.begin(), in.end());
    const Rows q = product(rows, weights[0]), k = product(rows, weights[1]),
               v = product(rows, weights[2]);
    for (std::size_t probe = 0; probe < std::min<std::size_t>(tokens, 128); ++probe) {
      const std::size_t token = tokens <= 128 ? probe : sample::randomBits(probe) % tokens;
      const Rows expected = product(blended(q, k, v, token), weights[3]);
      for (std::size_t column = 0; column < width; ++column)
        sample::checkClose(result[token * width + column], expected[column], 1e-4, "output",
                           token * width + column);
    }
  });
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1024, .iterations = 5}, attention);
}
