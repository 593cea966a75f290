// Covariances and correlations of the columns of a row-major matrix, a row for each observation.

kernel void mean(uint observations, uint variables, global const float *data, global float *means) {
  const uint j = get_global_id(0);
  if (j >= variables)
    return;
  float sum = 0.0f;
  for (uint i = 0; i < observations; ++i)
    sum += data[i * variables + j];
  means[j] = sum / observations;
}

kernel void deviation(uint observations, uint variables, global const float *data,
                      global const float *means, global float *deviations) {
  const uint j = get_global_id(0);
  if (j >= variables)
    return;
  float sum = 0.0f;
  for (uint i = 0; i < observations; ++i) {
    const float difference = data[i * variables + j] - means[j];
    sum += difference * difference;
  }
  deviations[j] = sqrt(sum / observations);
}

kernel void centre(uint observations, uint variables, global const float *data,
                   global const float *means, global float *centred) {
  const uint j = get_global_id(0), i = get_global_id(1);
  if (i < observations && j < variables)
    centred[i * variables + j] = data[i * variables + j] - means[j];
}

kernel void normalise(uint observations, uint variables, global const float *data,
                      global const float *means, global const float *deviations,
                      global float *normal) {
  const uint j = get_global_id(0), i = get_global_id(1);
  if (i < observations && j < variables)
    normal[i * variables + j] = (data[i * variables + j] - means[j]) / deviations[j];
}

// The matrix is symmetric: work-item j computes its row from the diagonal on, and writes each
// element to its mirror's place too. The first rows take the longest.
kernel void products(uint observations, uint variables, global const float *data,
                     global float *matrix) {
  const uint j = get_global_id(0);
  if (j >= variables)
    return;
  for (uint k = j; k < variables; ++k) {
    float sum = 0.0f;
    for (uint i = 0; i < observations; ++i)
      sum += data[i * variables + j] * data[i * variables + k];
    matrix[j * variables + k] = matrix[k * variables + j] = sum / observations;
  }
}
