#ifndef DYNET_GRAPH_MEMORY_H_
#define DYNET_GRAPH_MEMORY_H_

#include <cstdint>
#include <string>

#include "dynet/aligned-mem-pool.h"
#include "dynet/devices.h"
#include "dynet/dynet.h"
#include "dynet/except.h"

namespace dynet {

// The memory of the values of a graph, or of their gradients.
inline AlignedMemoryPool& graph_pool(bool gradients) {
  const DeviceMempool which = gradients ? DeviceMempool::DEDFS : DeviceMempool::FXS;
  return *get_device_manager()->get(0)->pools[(int)which];
}

// Returns how many bytes the values of a graph need, or their gradients.
inline size_t graph_bytes(const ComputationGraph& graph, bool gradients) {
  const MemAllocator& memory = *get_device_manager()->get(0)->mem;
  size_t bytes = 0;
  for (const Node* node : graph.nodes) {
    size_t numbers = node->dim.bd;
    for (unsigned i = 0; i < node->dim.nd; ++i) numbers *= node->dim.d[i];
    if (numbers > INT32_MAX)
      throw out_of_memory("the network needs a matrix of " + std::to_string(numbers) + " numbers, more than DyNet can hold");
    if (!(gradients ? node->backward_inplaced() : node->forward_inplaced()))
      bytes += memory.round_up_align(numbers * sizeof(float));
    if (!gradients) bytes += memory.round_up_align(node->aux_storage_size());
  }
  return bytes;
}

}  // namespace dynet

#endif
