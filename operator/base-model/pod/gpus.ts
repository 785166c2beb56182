import type { BaseModel } from '../../../crds/generated.ts'
import { isGpuResource, sumGpus } from '../../../crds/gpu-resource.ts'
import type { EnvVar } from './artifacts.ts'

type Trainer = NonNullable<BaseModel['spec']['trainer']>
type Resources = Trainer['resources']

// A part of a GPU cannot compute together with other parts.
const partOfGpu = /mig-|shared/i
const parallelArgument =
  /^(--(tensor|pipeline|data|decode-context|prefill-context)-parallel-size|-tp|-pp|-dp|-dcp|-pcp)(=|$)/

/**
 * The resources of a trainer. Requests `gpus` GPUs, unless the resources name GPUs of any kind. With 0 GPUs there,
 * several processes can train on CPUs.
 */
export function requestGpus({ gpus, resources = {} }: Trainer): Pick<Trainer, 'resources'> {
  const named = Object.keys({ ...resources.requests, ...resources.limits })
  if (gpus === undefined || named.some(isGpuResource)) return {}
  return { resources: { ...resources, limits: { ...resources.limits, 'nvidia.com/gpu': gpus } } }
}

/** The GPUs in a container's limits, of any kind. The process then refuses to compute on the processor instead. */
export function countGpus(resources: Resources): number | undefined {
  return sumGpus(resources?.limits) || undefined
}

/** All whole GPUs of an engine serve one copy of the model, unless its arguments divide them in another way. */
export function parallelArgs(resources: Resources, args: string[]): string[] {
  const whole = Object.entries(resources?.limits ?? {}).filter(([name]) => !partOfGpu.test(name))
  const gpus = sumGpus(Object.fromEntries(whole))
  if (gpus < 2 || args.some((arg) => parallelArgument.test(arg))) return []
  return ['--tensor-parallel-size', String(gpus)]
}

/** Rows of training have many lengths. In segments of fixed size, their memory would become fragmented. */
export function allocatorEnv(resources: Resources): EnvVar[] {
  if (countGpus(resources) === undefined) return []
  return [{ name: 'PYTORCH_ALLOC_CONF', value: 'expandable_segments:True' }]
}
