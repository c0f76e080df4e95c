/*
 * What the onnx backend does not do, and the tests that show it. The script holds each entry against the run: a
 * refusal or failure that is not here, and an entry here that no test shows any more, are both an error.
 */

/** Kernels that are not there, by what they are for. */
export const MISSING: Readonly<Record<string, readonly string[]>> = {
  'convolutions and pools': [
    'AvgPool',
    'AvgPool3D',
    'BatchToSpaceND',
    'Conv2D',
    'Conv2DBackpropInput',
    'Conv3D',
    'Conv3DBackpropInputV2',
    'DepthToSpace',
    'DepthwiseConv2dNative',
    'Dilation2D',
    'FusedConv2D',
    'FusedDepthwiseConv2D',
    'LRN',
    'MaxPool',
    'MaxPool3D',
    'MaxPoolWithArgmax',
    'SpaceToBatchND',
  ],
  images: [
    'CropAndResize',
    'FlipLeftRight',
    'NonMaxSuppressionV3',
    'NonMaxSuppressionV4',
    'NonMaxSuppressionV5',
    'ResizeBilinear',
    'ResizeNearestNeighbor',
    'Transform',
  ],
  'complex numbers and Fourier transforms': ['Complex'],
  'ragged and sparse tensors': [
    'RaggedGather',
    'RaggedRange',
    'RaggedTensorToTensor',
    'SparseFillEmptyRows',
    'SparseReshape',
    'SparseSegmentMean',
    'SparseSegmentSum',
  ],
  'a shape that depends on values': ['BroadcastArgs', 'Unique'],
  'searches in sorted rows': ['SearchSorted'],
  'draws (the toolkit has generators of its own)': ['Multinomial'],
};

/** Element types that ONNX Runtime has no kernels for. */
export const NO_TYPES: readonly string[] = ['string'];

/** Files about kernels or types that are not there: listed as not applicable, whatever of them passes. */
export const NOT_APPLICABLE: readonly string[] = [
  'ops/avg_pool_3d_test.js',
  'ops/avg_pool_test.js',
  'ops/batch_to_space_nd_test.js',
  'ops/broadcast_args_test.js',
  'ops/complex_ops_test.js',
  'ops/conv1d_test.js',
  'ops/conv2d_separable_test.js',
  'ops/conv2d_test.js',
  'ops/conv2d_transpose_test.js',
  'ops/conv3d_test.js',
  'ops/conv3d_transpose_test.js',
  'ops/depth_to_space_test.js',
  'ops/depthwise_conv2d_test.js',
  'ops/dilation2d_test.js',
  'ops/fused/fused_conv2d_test.js',
  'ops/fused/fused_depthwise_conv2d_test.js',
  'ops/ifft_test.js',
  'ops/image/crop_and_resize_test.js',
  'ops/image/flip_left_right_test.js',
  'ops/image/non_max_suppression_test.js',
  'ops/image/resize_bilinear_test.js',
  'ops/image/resize_nearest_neighbor_test.js',
  'ops/image/transform_test.js',
  'ops/local_response_normalization_test.js',
  'ops/lower_bound_test.js',
  'ops/max_pool_3d_test.js',
  'ops/max_pool_test.js',
  'ops/max_pool_with_argmax_test.js',
  'ops/multinomial_test.js',
  'ops/pool_test.js',
  'ops/ragged_gather_test.js',
  'ops/ragged_range_test.js',
  'ops/ragged_tensor_to_tensor_test.js',
  'ops/search_sorted_test.js',
  'ops/signal/stft_test.js',
  'ops/space_to_batch_nd_test.js',
  'ops/sparse/sparse_fill_empty_rows_test.js',
  'ops/sparse/sparse_reshape_test.js',
  'ops/sparse/sparse_segment_mean_test.js',
  'ops/sparse/sparse_segment_sum_test.js',
  'ops/spectral/fft_test.js',
  'ops/spectral/irfft_test.js',
  'ops/spectral/rfft_test.js',
  'ops/string/static_regex_replace_test.js',
  'ops/string/string_n_grams_test.js',
  'ops/string/string_split_test.js',
  'ops/string/string_to_hash_bucket_fast_test.js',
  'ops/unique_test.js',
  'ops/upper_bound_test.js',
];

/** Tests that read a value synchronously before it is computed, and why that cannot be helped. */
export const SYNC_READS: Readonly<Record<string, string>> = {
  'ops/slice_test.js: slice  shallow slicing delayed sync read of sliced tensor has no mem leak':
    'the test itself calls dataSync on a result that nothing has computed; tfjs keeps it for backends with synchronous reads',
};

/**
 * Tests that may fail, by backend, and why: a last bit that falls one way or the other by processor. ONNX Runtime
 * compiled to wasm rounds these two the other way.
 */
export const FAILS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  onnx: {
    'ops/exp_test.js: exp int32':
      'e^10 = 22026.46579 lies between the float32 numbers 22026.46484 and 22026.46680; ONNX Runtime gives the upper, 1.0e-3 away, the test allows 1e-3',
    'ops/tan_test.js: tan numbers exceed float32 precision':
      'tan at the edge of a pole is 30144.17578 or, one unit in the last place up, 30144.17773 in ONNX Runtime; the test allows 1e-3, half a unit',
  },
};

/** Tests that tfjs declares for its own cpu backend and for no other. */
export const CPU_ONLY: readonly string[] = [
  'engine_test.js: Switching cpu backends Move data from cpu1 to cpu2 backend',
  'engine_test.js: Switching cpu backends can execute op with data from mixed backends',
];
