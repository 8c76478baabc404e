// The kernel for x86-64 with AVX-512 F, BW, DQ and VL but without VBMI2, which servers before Ice Lake have: 64 bytes
// per vector to find SOH, and eight fields together as with AVX2.
#if defined(__x86_64__)
#include "avx512_vector.hpp"

namespace nfx::kernels {

const KernelTable avx512bw = VectorKernel<Avx512Vector>::table("avx512bw");

}  // namespace nfx::kernels

#endif
