import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'vitest'
import { layoutOf } from '../../local/stack/layout.ts'
import { readSupervisorRecord } from '../../local/stack/processes/supervisor-record.ts'
import { eventually } from './eventually.ts'
import type { Stack } from './stack.ts'

/** The label selectors of each part's pods. */
export const podSelectors = {
  apiserver: 'app.kubernetes.io/component=apiserver',
  operator: 'app.kubernetes.io/component=operator',
  'status server': 'app.kubernetes.io/component=status-server',
  trainer: 'trainyard.dev/component=trainer',
  engine: 'trainyard.dev/component=engine',
} as const

/**
 * Kills the main process of a part's pod with SIGKILL: of the operators, that of the one that works. The node agent has recorded
 * its id.
 */
export async function killPart(stack: Stack, part: keyof typeof podSelectors): Promise<void> {
  const choice = part === 'operator' ? ['--field-selector', `metadata.name=${await readLeader(stack)}`] : []
  process.kill(await mainPid(stack, podSelectors[part], choice), 'SIGKILL')
}

/** The name of the pod of the operator that has the Lease. */
function readLeader(stack: Stack): Promise<string> {
  return stack.kubectl('get', 'lease', 'trainyard-operator', '-o', 'jsonpath={.spec.holderIdentity}')
}

/** The process id of the main process of the first pod that a selector and more options find. */
export async function mainPid(stack: Stack, selector: string, options: string[] = []): Promise<number> {
  const field = 'jsonpath={.items[0].metadata.uid}'
  const uid = (await stack.kubectl('get', 'pods', '-l', selector, ...options, '-o', field)).trim()
  const folder = path.join(layoutOf(stack.stateFolder).node, 'pods', uid, 'containers')
  const [container] = await readdir(folder)
  const runs = (await readdir(path.join(folder, container!))).filter((name) => /^\d+$/.test(name)).map(Number)
  const stat = await readFile(path.join(folder, container!, String(Math.max(...runs)), 'main'), 'utf8')
  return Number.parseInt(stat, 10)
}

/**
 * Kills a supervised program with SIGKILL. Returns when a new process of it is ready. Its old children may answer for a
 * moment, so a check before that would be too early.
 */
export async function killProgram(stack: Stack, name: string): Promise<void> {
  const read = () => readSupervisorRecord(layoutOf(stack.stateFolder))!.programs[name]!
  const { starts } = read()
  process.kill(programPid(stack, name), 'SIGKILL')
  await eventually(() => {
    const program = read()
    expect(program.starts).toBeGreaterThan(starts)
    expect(program.ready).toBe(true)
  }, 150_000)
}

/** The process id of a supervised program. */
export function programPid(stack: Stack, name: string): number {
  return readSupervisorRecord(layoutOf(stack.stateFolder))!.programs[name]!.process!.pid
}

/** Waits until the service reports that all of it works. */
export function waitUntilWhole(stack: Stack, timeoutMs: number): Promise<void> {
  const since = Date.now()
  return eventually(async () => {
    const headers = { authorization: `Bearer ${stack.apiKey}` }
    const response = await fetch(`${stack.url}/v1/system-check`, { headers, signal: AbortSignal.timeout(5_000) })
    const body = (await response.json()) as { checked_at: string }
    expect({ status: response.status, body }).toMatchObject({ status: 200, body: { ok: true } })
    // An earlier report may be from before the kill.
    expect(Date.parse(body.checked_at)).toBeGreaterThanOrEqual(since)
  }, timeoutMs)
}
