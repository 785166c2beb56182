import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Pool } from '../../db/pool.ts'
import { addKey, type RunningApiServer } from '../support/api-server.ts'
import { createRest } from '../support/rest.ts'
import type { AttackPlan, AttackReport } from './attacker.ts'
import type { Target } from './attack.ts'
import type { MemoryGroup } from './memory-group.ts'
import { Neighbour, summarize, type Question } from './neighbour.ts'
import { readMemory, watchMemory } from './process-memory.ts'

const calmEveryMs = 1_000

/** Where a siege happens. */
export interface Siege {
  server: RunningApiServer
  pool: Pool
  chatModel: string
  group: MemoryGroup | undefined
}

/** The attacks, and how long the server may take to free its memory. */
export interface SiegePlan extends Pick<AttackPlan, 'seed' | 'known' | 'made' | 'eightfold' | 'mixed'> {
  calmMs: number
}

/** The results of a siege. */
export interface SiegeReport extends AttackReport {
  /** 99th percentiles of the neighbour's requests beside harmless requests, and beside attacks. */
  harmlessP99Ms: Record<Question, number>
  hostileP99Ms: Record<Question, number>
  failures: string[]
  lost: string[]
  kills: number
  serverPeakBytes: number
  backendPeakBytes: number
  /** The server's memory after a quiet time, relative to its memory before the attacks. */
  memoryRatio: number
}

/** Attacks a server while a neighbour works. Harmless requests of the same size come first, for comparison. */
export async function besiege(siege: Siege, plan: SiegePlan): Promise<SiegeReport> {
  const { server, pool, chatModel, group } = siege
  const target = await makeTarget(siege)
  const key = await addKey(pool, 'neighbour')
  const neighbour = new Neighbour({ url: server.url, key, entity: 'neighbour', chatModel })
  await neighbour.moveIn()
  const worker = new Worker(new URL('attacker.ts', import.meta.url))
  const attack = (harmless: boolean) => runAttacks(worker, { ...plan, target, pid: server.pid, harmless })
  try {
    const harmless = await neighbour.beside(async () => void (await attack(true)))
    const before = await readMemory(server.pid, 'VmRSS')
    const memory = watchMemory(server.pid, pool)
    let sent: AttackReport | undefined
    const hostile = await neighbour.beside(async () => void (sent = await attack(false)))
    await memory.stop()
    const { fatal } = sent!
    return {
      ...sent!,
      harmlessP99Ms: summarize(harmless),
      hostileP99Ms: summarize(hostile),
      failures: [...harmless.failures, ...hostile.failures],
      lost: fatal ? [] : await neighbour.findLost(),
      kills: (await group?.countKills()) ?? 0,
      serverPeakBytes: memory.peaks.serverBytes,
      backendPeakBytes: memory.peaks.backendBytes,
      memoryRatio: fatal ? 0 : await waitForCalm(server.pid, before, plan.calmMs),
    }
  } finally {
    await worker.terminate()
  }
}

async function makeTarget({ server, pool, chatModel }: Siege): Promise<Target> {
  const entity = 'attacker'
  const [read, member] = [await addKey(pool, entity, 'read'), await addKey(pool, entity, 'member')]
  const rest = createRest({ url: server.url, apiKey: member, baseModel: chatModel })
  const { id } = await rest.createModel()
  const project = `${entity}/attacks-${randomUUID().slice(0, 8)}`
  return { url: server.url, keys: { read, member }, entity, project, modelId: id, chatModel }
}

function runAttacks(worker: Worker, plan: AttackPlan): Promise<AttackReport> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject)
    worker.once('message', ({ report, failed }: { report?: AttackReport; failed?: string }) => {
      worker.off('error', reject)
      if (report) resolve(report)
      else reject(new Error(`the attacks failed: ${failed}`))
    })
    const noTransfer: [] = []
    worker.postMessage(plan, noTransfer)
  })
}

/** The minimum of a process's memory within the time, relative to its memory before. */
async function waitForCalm(pid: number, before: number, calmMs: number): Promise<number> {
  const deadlineMs = performance.now() + calmMs
  let ratio = (await readMemory(pid, 'VmRSS')) / before
  while (performance.now() < deadlineMs) {
    await delay(calmEveryMs)
    ratio = Math.min(ratio, (await readMemory(pid, 'VmRSS')) / before)
  }
  return ratio
}
