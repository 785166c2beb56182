import { setTimeout as delay } from 'node:timers/promises'
import { Interrupted, UserError } from '../../user-error.ts'
import type { Phase } from '../../terminal/board.ts'
import { CrashWatch } from './crashing-pods.ts'
import type { StackEnv } from '../env-file.ts'
import type { Kubectl } from './kubectl.ts'

/** The response of /v1/system-check. */
interface SystemReport {
  ok: boolean
  parts: Record<string, { ok: boolean; detail: string; cause?: string }>
}

// The first engine start on a machine spends half a minute on imports and another on compilation. Beside twenty other
// programs on two cores it took four minutes. A pod that crashes repeatedly is noticed long before this limit.
const timeoutMs = 900_000
const pollMs = 500

/** Whether the service answers and reports that all its parts work. */
export async function isServing(env: StackEnv): Promise<boolean> {
  return (await readReport(env))?.ok === true
}

/** Options of the wait. */
export interface WaitOptions {
  kubectl: Kubectl
  phase: Phase
  /** Whether to wait for engines and trainers. */
  withPods: boolean
}

/**
 * Waits until every part of the service works, and shows the parts that are missing.
 *
 * @throws {Problem} with the end of the log of a pod that crashes repeatedly, or after the time limit
 */
export async function waitUntilServing(env: StackEnv, { kubectl, phase, withPods }: WaitOptions): Promise<void> {
  const deadline = Date.now() + timeoutMs
  const crashes = new CrashWatch(kubectl)
  for (;;) {
    if (kubectl.signal.aborted) throw new Interrupted()
    const report = await readReport(env)
    if (report && (report.ok || (!withPods && worksWithoutPods(report)))) return
    const waitingFor = describeMissing(report)
    phase.update(`waiting for ${waitingFor}`)
    if (Date.now() > deadline) throw new UserError(describeTimeout(waitingFor, env))
    await crashes.check()
    await delay(pollMs)
  }
}

function worksWithoutPods({ parts }: SystemReport): boolean {
  return Object.entries(parts).every(([name, { ok }]) => ok || name === 'engines' || name === 'trainers')
}

export function describeMissing(report: SystemReport | undefined): string {
  if (!report) return 'the apiserver'
  const missing = Object.entries(report.parts).filter(([, part]) => !part.ok)
  return missing.map(([name, { detail, cause }]) => `${name.replaceAll('_', ' ')} (${cause ?? detail})`).join(', ')
}

async function readReport({ TRAINYARD_URL: url, TRAINYARD_API_KEY: key }: StackEnv): Promise<SystemReport | undefined> {
  const headers = { authorization: `Bearer ${key}` }
  try {
    const response = await fetch(`${url}/v1/system-check`, { headers, signal: AbortSignal.timeout(10_000) })
    const report = (await response.json()) as SystemReport
    return typeof report.parts === 'object' ? report : undefined
  } catch {
    return undefined
  }
}

function describeTimeout(waitingFor: string, { KUBECONFIG }: StackEnv): string {
  return (
    `After ${timeoutMs / 60_000} minutes the stack still waits for ${waitingFor}. ` +
    `See \`KUBECONFIG=${KUBECONFIG} kubectl describe pods\` and \`kubectl logs\` of that pod.`
  )
}
