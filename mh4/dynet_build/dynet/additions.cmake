
# Appended to dynet/CMakeLists.txt of DyNet. The variable MH4 is the folder of this file.

# Only compilers for x86 have mm_malloc.h. Others find ours, as they search this folder last.
set_source_files_properties(mem.cc PROPERTIES COMPILE_OPTIONS "-idirafter;${MH4}")

# Eigen's headers, which take longer to parse than many source files, are parsed once.
target_precompile_headers(dynet PRIVATE tensor-eigen.h)

# Nodes that mh4 never uses are compiled without optimisation, as two files, which takes a fraction of the time.
set(UNUSED nodes-argmax.cc nodes-contract.cc nodes-conv.cc nodes-conv2d.cc nodes-cumulative.cc nodes-hinge.cc nodes-logsumexp.cc
    nodes-losses.cc nodes-lstm.cc nodes-maxpooling2d.cc nodes-minmax.cc nodes-moments.cc nodes-normalization.cc nodes-norms.cc
    nodes-pickneglogsoftmax.cc nodes-rounding.cc nodes-softmaxes.cc saxe-init.cc)
add_library(unused OBJECT ${UNUSED})
target_compile_options(unused PRIVATE -O0)
set_target_properties(unused PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 9)
# The unused nodes come last: if several files have the same inline function, the linker uses that of the first file.
get_target_property(USED dynet SOURCES)
list(REMOVE_ITEM USED ${UNUSED})
set_target_properties(dynet PROPERTIES SOURCES "${USED};nodes-bilstm.cc;products.cc;$<TARGET_OBJECTS:unused>")

# The Python bindings, which take long, are compiled in parallel with the library. setup.py links them.
add_library(bindings OBJECT ../python/_dynet.cpp)
target_include_directories(bindings PRIVATE ${PYTHON_HEADERS})
target_compile_options(bindings PRIVATE -O2)

# One target, since make would finish the first of two before it begins the second.
add_custom_target(compiled)
add_dependencies(compiled bindings dynet)
