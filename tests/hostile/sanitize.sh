#!/bin/sh
# Compile the decoders with AddressSanitizer and UBSan into build/sanitize, and call them with random arguments: the options of fuzz.py.
# Leaks are not detected, since Python itself is not compiled with the sanitizers.
set -eu
MH4_CFLAGS='-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g1 -O1' \
  .venv/bin/python setup.py -q build --build-base build/sanitize --build-lib build/sanitize/lib
library() { ${CXX:-c++} -print-file-name="$1"; }
PYTHONPATH=build/sanitize/lib LD_PRELOAD="$(library libasan.so) $(library libstdc++.so)" \
  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 exec .venv/bin/python tests/hostile/fuzz.py "$@"
