// The representation step for U and V of bfloat16.
#define MUSE_REPRESENT_NUMBER Bfloat16
#include "representation.cuh"
