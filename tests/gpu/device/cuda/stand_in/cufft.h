#pragma once

/// The part of cuFFT that this project uses; see cuda_runtime_api.h.

#include "cuda_runtime_api.h"

enum cufftResult : int {
  CUFFT_SUCCESS = 0,
  CUFFT_INVALID_PLAN = 1,
  CUFFT_ALLOC_FAILED = 2,
  CUFFT_INVALID_TYPE = 3,
  CUFFT_INVALID_VALUE = 4,
  CUFFT_INTERNAL_ERROR = 5,
  CUFFT_EXEC_FAILED = 6,
  CUFFT_INVALID_SIZE = 8,
  CUFFT_INVALID_DEVICE = 11,
};

enum cufftType : int { CUFFT_C2C = 0x29, CUFFT_Z2Z = 0x69 };

constexpr int CUFFT_FORWARD = -1;
constexpr int CUFFT_INVERSE = 1;

/// No real cuFFT has this version, so a worker on the stand-in never accepts a real library.
constexpr int CUFFT_VER_MAJOR = 0;

using cufftHandle = int;

struct cufftComplex {
  float x;
  float y;
};
struct cufftDoubleComplex {
  double x;
  double y;
};

extern "C" {

cufftResult cufftGetVersion(int* version);
cufftResult cufftPlanMany(cufftHandle* plan,
                          int rank,
                          int* n,
                          int* inembed,
                          int istride,
                          int idist,
                          int* onembed,
                          int ostride,
                          int odist,
                          cufftType type,
                          int batch);
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream);
cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction);
cufftResult cufftExecZ2Z(cufftHandle plan,
                         cufftDoubleComplex* in,
                         cufftDoubleComplex* out,
                         int direction);
cufftResult cufftDestroy(cufftHandle plan);

}  // extern "C"
