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
