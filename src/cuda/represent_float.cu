// The representation step for U and V of floats.
#define MUSE_REPRESENT_NUMBER float
#include "representation.cuh"
