// The kernel for x86-64 with AVX-512 F, BW, DQ and VL but without VBMI2, for servers before Ice Lake: uses vectors of
// 64 bytes to find SOH, and reads eight fields together as with AVX2.
#if defined(__x86_64__)
#include "avx512_vector.hpp"

namespace nfx::kernels {

const KernelTable avx512bw = VectorKernel<Avx512Vector>::table("avx512bw");

}  // namespace nfx::kernels

#endif
