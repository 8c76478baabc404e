// Compares the kernels for AVX-512 with the scalar one on any machine: their sources are compiled with SIMDe's portable
// intrinsics. Uses the inputs of differential.cpp, some hundred times slower.
#include "cli/command_line.hpp"
#include "differential/differential_run.hpp"

namespace nfx::kernels {

extern const KernelTable simulated_avx512bw;
extern const KernelTable simulated_avx512;

}  // namespace nfx::kernels

int main(int argc, char** argv) {
  nfx::test::DifferentialOptions options;
  options.kernels = {&nfx::kernels::simulated_avx512bw, &nfx::kernels::simulated_avx512};
  options.executions = 200'000;

  const nfx::cli::Command program{
      .name = "simulated_kernels",
      .summary = "Compare simulated kernels for AVX-512 with the scalar one on generated messages",
      .options =
          {{.names = "--executions", .target = &options.executions, .help = "Messages times kernels", .range = {{1}}},
           {.names = "--seed", .target = &options.seed, .help = "Chooses the messages"},
           {.names = "--threads", .target = &options.threads, .help = "How many threads", .range = {{1, 1024}}}},
  };
  if (const auto exit_code = nfx::cli::parse(program, argc, argv)) return *exit_code;
  return nfx::test::run_differential(options);
}
