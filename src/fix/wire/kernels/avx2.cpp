// The kernel for x86-64 with AVX2 and BMI: 32 bytes per vector.
#if defined(__x86_64__)
#include "avx2_vector.hpp"

namespace nfx::kernels {

const KernelTable avx2 = VectorKernel<Avx2Vector>::table("avx2");

}  // namespace nfx::kernels

#endif
