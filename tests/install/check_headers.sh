#!/bin/sh
# check_headers.sh BUILD WORK COMPILER: the installed headers compile by the command of README.md, ten in one program, and a
# program with the engine links and runs. Standard headers are compiled once beforehand, which makes the rest faster.
set -eu
build=$1 work=$2 compiler=$3

rm -rf "$work"
mkdir -p "$work"
cd "$work"
cmake --install "$build" --component develop --prefix "$work/prefix" >install.log
package=$(find prefix -name nexusfix-engine.pc)
PKG_CONFIG_PATH=$work/$(dirname "$package")
export PKG_CONFIG_PATH compiler

printf '#include <nexusfix/engine/engine.hpp>\nint main() {}\n' >program.cpp
# The options are words of their own, as in README.md.
# shellcheck disable=SC2046
"$compiler" -O2 program.cpp -o program $(pkg-config --cflags --libs nexusfix-engine)
LD_LIBRARY_PATH=${PKG_CONFIG_PATH%/pkgconfig} ./program

cd prefix/include
grep -rhoE '^#include <[a-z_]+>' nexusfix | sort -u >"$work/standard.hpp"
# shellcheck disable=SC2046
"$compiler" -x c++-header "$work/standard.hpp" -o "$work/standard.hpp.gch" $(pkg-config --cflags nexusfix-engine)
# Of the messages those that have all of a version.
find nexusfix -name '*.hpp' | grep -v '^nexusfix/fix[45][^/]*/[^f]' | sort >"$work/headers"
# shellcheck disable=SC2016
STANDARD=$work/standard.hpp xargs -P "$(nproc)" -n 10 sh -c '
  printf "#include <%s>\n" "$@" |
    "$compiler" -include "$STANDARD" -fsyntax-only -x c++ - $(pkg-config --cflags --libs nexusfix-engine) || exit 255' sh \
  <"$work/headers"
echo "$(wc -l <"$work/headers") headers"
