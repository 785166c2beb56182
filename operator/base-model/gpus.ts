import type { BaseModel } from '../../crds/generated.ts'

type Trainer = NonNullable<BaseModel['spec']['trainer']>

// nvidia.com/gpu, amd.com/gpu, gpu.intel.com/i915, nvidia.com/mig-1g.5gb
const gpuResource = /gpu|^nvidia\.com\//i

/**
 * The resources of a trainer. Requests `gpus` GPUs, unless the resources name GPUs of any kind. With 0 GPUs there,
 * several processes can train on CPUs.
 */
export function requestGpus({ gpus, resources = {} }: Trainer): Pick<Trainer, 'resources'> {
  const named = Object.keys({ ...resources.requests, ...resources.limits })
  if (gpus === undefined || named.some((name) => gpuResource.test(name))) return {}
  return { resources: { ...resources, limits: { ...resources.limits, 'nvidia.com/gpu': gpus } } }
}

/** The GPUs in a container's limits, of any kind. The process then refuses to compute on the processor instead. */
export function countGpus({ limits = {} }: NonNullable<Trainer['resources']> = {}): number | undefined {
  const counts = Object.entries(limits).filter(([name]) => gpuResource.test(name))
  const total = counts.reduce((sum, [, count]) => sum + Number(count), 0)
  return total > 0 ? total : undefined
}
