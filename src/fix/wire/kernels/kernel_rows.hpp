// The kernels other than `scalar`: to add one, write its file src/fix/wire/kernels/<name>.cpp, which defines
// `const KernelTable <name>`, and its row here. The build, the choice at start, the tests and the benchmarks read the
// rows.
//   architecture  as CMAKE_SYSTEM_PROCESSOR has it; the file is empty for others
//   name          of the file, the variable and NFX_ISA
//   options       of the compiler, for that file alone: cmake/Modules.cmake reads them from here
//   present       whether this machine can run it; has() queries the compiler's run-time library, which reads cpuid
//                 (the processor's features) and xgetbv (the registers that the system saves)
// In each architecture from the slowest to the fastest: the last one present is chosen.
#pragma once

// clang-format off
#if defined(__x86_64__)
#define NFX_KERNEL_ROWS(row, has) \
  row(x86_64, sse42, "-msse4.2 -mpopcnt -fno-tree-slp-vectorize", has("sse4.2") && has("popcnt")) \
  row(x86_64, avx2, "-mavx2 -mbmi -mbmi2 -mpopcnt -fno-tree-slp-vectorize", has("avx2") && has("bmi") && has("bmi2") && has("popcnt")) \
  row(x86_64, avx512bw, "-mavx2 -mbmi -mbmi2 -mpopcnt -mavx512f -mavx512bw -mavx512dq -mavx512vl -fno-tree-slp-vectorize", \
      has("avx2") && has("bmi") && has("bmi2") && has("popcnt") && has("avx512f") && has("avx512bw") && \
      has("avx512dq") && has("avx512vl")) \
  row(x86_64, avx512, "-mavx2 -mbmi -mbmi2 -mpopcnt -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vbmi2 -fno-tree-slp-vectorize", \
      has("avx2") && has("bmi") && has("bmi2") && has("popcnt") && has("avx512f") && has("avx512bw") && \
      has("avx512dq") && has("avx512vl") && has("avx512vbmi2"))
#elif defined(__aarch64__)
#define NFX_KERNEL_ROWS(row, has) \
  row(aarch64, neon, "", true)
#else
#define NFX_KERNEL_ROWS(row, has)
#endif
// clang-format on
