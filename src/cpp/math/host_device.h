// Marks functions that the CUDA backend compiles for the device too; nothing where no CUDA compiler is at work.
#pragma once

#if defined(__CUDACC__)
#define MUSE_HOST_DEVICE __host__ __device__
#else
#define MUSE_HOST_DEVICE
#endif
