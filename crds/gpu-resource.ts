// nvidia.com/gpu, amd.com/gpu, gpu.intel.com/i915, nvidia.com/mig-1g.5gb
const gpuResource = /gpu|^nvidia\.com\//i

/** Whether the name of a resource in a pod's requests is that of a GPU, of any maker. */
export function isGpuResource(name: string): boolean {
  return gpuResource.test(name)
}
