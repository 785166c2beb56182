// nvidia.com/gpu, amd.com/gpu, gpu.intel.com/i915, nvidia.com/mig-1g.5gb
const gpuResource = /gpu|^nvidia\.com\//i

/** Whether the name of a resource in a pod's requests is that of a GPU, of any maker. */
export function isGpuResource(name: string): boolean {
  return gpuResource.test(name)
}

/** The GPUs of any maker among the amounts of a container's requests or limits. Their amounts are whole numbers. */
export function sumGpus(amounts: Readonly<Record<string, string | number>> = {}): number {
  const gpus = Object.entries(amounts).filter(([name]) => isGpuResource(name))
  return gpus.reduce((sum, [, amount]) => sum + (Number.isFinite(Number(amount)) ? Number(amount) : 0), 0)
}
