import type { BaseModel } from '../../crds/generated.ts'

type Trainer = NonNullable<BaseModel['spec']['trainer']>

// nvidia.com/gpu, amd.com/gpu, gpu.intel.com/i915, nvidia.com/mig-1g.5gb
const gpuResource = /gpu|^nvidia\.com\//i

/**
 * The resources of a trainer. They request `gpus` GPUs, unless they name GPUs of any kind themselves; a 0 there lets several
 * processes train on CPUs.
 */
export function requestGpus({ gpus, resources = {} }: Trainer): Pick<Trainer, 'resources'> {
  const named = Object.keys({ ...resources.requests, ...resources.limits })
  if (gpus === undefined || named.some((name) => gpuResource.test(name))) return {}
  return { resources: { ...resources, limits: { ...resources.limits, 'nvidia.com/gpu': gpus } } }
}
