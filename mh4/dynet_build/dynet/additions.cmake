
# Appended to dynet/CMakeLists.txt of DyNet, which is configured with the folder of this file as MH4.

# Only compilers for x86 have mm_malloc.h. Others find ours, as they search this folder last.
set_source_files_properties(mem.cc PROPERTIES COMPILE_OPTIONS "-idirafter;${MH4}")

# Eigen's headers, which take longer than many a file, are parsed once.
target_precompile_headers(dynet PRIVATE tensor-eigen.h)

# Nodes that mh4 never makes are compiled without optimisation, and in two files, in a fraction of the time.
set(UNUSED nodes-argmax.cc nodes-contract.cc nodes-conv.cc nodes-conv2d.cc nodes-cumulative.cc nodes-hinge.cc nodes-logsumexp.cc
    nodes-losses.cc nodes-lstm.cc nodes-maxpooling2d.cc nodes-minmax.cc nodes-moments.cc nodes-normalization.cc nodes-norms.cc
    nodes-pickneglogsoftmax.cc nodes-rounding.cc nodes-softmaxes.cc saxe-init.cc)
add_library(unused OBJECT ${UNUSED})
target_compile_options(unused PRIVATE -O0)
set_target_properties(unused PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 9)
# They come last: of an inline function that several files have, the linker takes that of the first.
get_target_property(SOURCES_OF_DYNET dynet SOURCES)
list(REMOVE_ITEM SOURCES_OF_DYNET ${UNUSED})
set_target_properties(dynet PROPERTIES SOURCES "${SOURCES_OF_DYNET};$<TARGET_OBJECTS:unused>")

# The Python bindings, which take long, are compiled beside the library. setup.py links them.
add_library(bindings OBJECT ../python/_dynet.cpp)
target_include_directories(bindings PRIVATE ${PYTHON_HEADERS})
target_compile_options(bindings PRIVATE -O2)

# One target, since make would finish the first of two before it begins the second.
add_custom_target(compiled)
add_dependencies(compiled bindings dynet)
