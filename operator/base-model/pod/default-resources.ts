import type { BaseModel } from '../../../crds/generated.ts'
import type { Component } from '../../component-pods.ts'

type Resources = NonNullable<BaseModel['spec']['engine']>['resources']

/** What a container requests of the processor, in thousandths of one, and of memory, in MiB. */
interface Amounts {
  milliCpus: number
  mebibytes: number
}

/**
 * What a process needs for any base model. The memory was measured: tiny-chat's engine had at most 1,376 MiB on two cores, and
 * its trainer 688 MiB (the PSS in /proc/PID/smaps_rollup of all processes of the pod, every five seconds during
 * test/engine/main-job.test.ts). Processors have no such bound: the share is what a pod keeps on a busy node.
 */
const needs: Record<Component, Amounts> = {
  engine: { milliCpus: 100, mebibytes: 1400 },
  trainer: { milliCpus: 100, mebibytes: 700 },
}

/**
 * Adds requests to the resources of a container, so that it is not the first that a node evicts or starves (the QoS class
 * BestEffort). What is given stays. Without a request, Kubernetes takes the limit.
 *
 * @param components those whose processes are in the container
 */
export function addRequests(components: Component[], { requests, limits }: NonNullable<Resources> = {}) {
  const sum = (amount: keyof Amounts) => components.reduce((total, component) => total + needs[component][amount], 0)
  const defaults = { cpu: `${sum('milliCpus')}m`, memory: `${sum('mebibytes')}Mi` }
  const missing = Object.entries(defaults).filter(([name]) => limits?.[name] === undefined)
  const all = { ...Object.fromEntries(missing), ...requests }
  return { ...(Object.keys(all).length > 0 && { requests: all }), ...(limits && { limits }) }
}
