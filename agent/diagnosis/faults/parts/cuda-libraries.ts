// Names of the libraries that CUDA programs load, as file names on Linux and Windows.

const STEMS =
  'cudart|cublasLt|cublas|cudnn(?:_\\w{1,32}|\\d{0,2})|cufftw?|curand|cusolver\\w{0,12}|cusparse\\w{0,4}|cutensor\\w{0,4}|nccl|nvrtc[\\w-]{0,20}|nvinfer\\w{0,24}|nvonnxparser|nvparsers|nvToolsExt|nvJitLink|nvjitlink|nvjpeg\\w{0,8}|npp\\w{1,8}|nppc|cupti|nvcuvid|nvidia-[a-z]{2,16}|cufile\\w{0,8}|cudss\\w{0,12}|nvblas|nvshmem\\w{0,12}|nvfatbin|nvvm|cuinj64|cuda|torch_cuda\\w{0,12}|c10_cuda|onnxruntime_providers_(?:cuda|tensorrt)|ggml-cuda|jax_cuda\\w{0,12}'

/** A CUDA library's file name, as a source of a pattern: libcublas.so.12, libnvrtc-builtins.so.11.1, cudart64_110.dll. */
export const CUDA_LIBRARY = `(?:lib(?:${STEMS})\\.so(?:\\.\\d{1,6}){0,4}|(?:${STEMS})(?:64)?(?:_[\\d_]{1,12})?\\.dll)`
