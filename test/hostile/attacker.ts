import { parentPort } from 'node:worker_threads'
import { createRandom, type Random } from '../clients/weave-differential/random.ts'
import type { Attack, Target } from './attack.ts'
import { listKnownAttacks } from './corpus.ts'
import { deliver } from './deliver.ts'
import { listSchemaAttacks } from './schema-attacks.ts'

/** The attacker's task. */
export interface AttackPlan {
  target: Target
  /** The process under attack. When it ends, the attack ends. */
  pid: number
  /** The same seed makes the same attacks. */
  seed: number
  /** The number of known attacks, spread over the operations. */
  known: number
  /** The number of attacks that are generated from the schemas, in addition to the known ones. */
  made: number
  /** How many attacks are sent eight times at once, after each was sent alone. */
  eightfold: number
  /** How many rounds send several different attacks at once. */
  mixed: number
  /** Sends harmless requests of the same number and sizes instead. */
  harmless: boolean
}

/** The results of the attack. */
export interface AttackReport {
  requests: number
  /** The number of responses by status. `none` counts connections that ended without an expected response. */
  statuses: Record<string, number>
  /** The slowest attacks, with their times. */
  slowest: { name: string; ms: number }[]
  /** The attack after which the process ended. */
  fatal?: string
}

const atOnce = 8
const slowMs = 5_000

/** Requests that are sent at the same time. */
interface Round {
  name: string
  attacks: Attack[]
}

/** Sends each attack alone, then some of them eight times at once, and then several different ones at once. */
async function run(plan: AttackPlan): Promise<AttackReport> {
  const { target, known, made } = plan
  const random = createRandom(plan.seed)
  const attacks = [
    ...spread(listKnownAttacks(target), random).slice(0, known),
    ...spread(await listSchemaAttacks(target, random), random).slice(0, made),
  ]
  const report: AttackReport = { requests: 0, statuses: {}, slowest: [] }
  for (const round of listRounds(plan, attacks, random)) {
    const startMs = performance.now()
    await sendRound(plan, round, report)
    printSlow(`${round.name}${plan.harmless ? ', harmless' : ''}`, performance.now() - startMs)
    if (!isAlive(plan.pid)) return { ...report, fatal: round.name }
  }
  report.slowest = report.slowest.toSorted((a, b) => b.ms - a.ms).slice(0, 10)
  return report
}

function listRounds({ eightfold, mixed }: AttackPlan, attacks: Attack[], random: Random): Round[] {
  const alike = spread(attacks, random).slice(0, eightfold)
  const kinds = Array.from({ length: mixed }, () => spread(attacks, random).slice(0, atOnce))
  return [
    ...attacks.map((attack) => ({ name: attack.name, attacks: [attack] })),
    ...alike.map((attack) => ({
      name: `${attack.name}, ${atOnce} at once`,
      attacks: Array.from({ length: atOnce }, () => attack),
    })),
    ...kinds.map((several) => ({ name: several.map(({ name }) => name).join(' beside '), attacks: several })),
  ]
}

/** Shows a person who waits what takes long. */
function printSlow(what: string, ms: number): void {
  if (ms > slowMs) process.stderr.write(`${Math.round(ms / 1_000)} s: ${what}\n`)
}

async function sendRound({ target, harmless }: AttackPlan, { attacks }: Round, report: AttackReport): Promise<void> {
  const bodies = new Map([...new Set(attacks)].map((attack) => [attack, writeBody(attack, harmless)]))
  await Promise.all(attacks.map((attack) => sendOne(target, attack, { body: bodies.get(attack), harmless, report })))
}

function writeBody(attack: Attack, harmless: boolean): Buffer | undefined {
  const written = attack.body?.()
  return written && harmless ? attack.harmless(written.length) : written
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A random order in which every operation occurs once before any occurs twice. */
function spread(attacks: Attack[], random: Random): Attack[] {
  const seen = new Map<string, number>()
  return attacks
    .map((attack) => ({ attack, rank: random.int(2 ** 31) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ attack }) => {
      const turn = seen.get(attack.operation) ?? 0
      seen.set(attack.operation, turn + 1)
      return { attack, turn }
    })
    .toSorted((a, b) => a.turn - b.turn)
    .map(({ attack }) => attack)
}

interface Sending {
  body: Buffer | undefined
  harmless: boolean
  report: AttackReport
}

async function sendOne(target: Target, attack: Attack, { body, harmless, report }: Sending): Promise<void> {
  const startMs = performance.now()
  // An attack without a body has no size to imitate, so a fixed request replaces it.
  const sent = harmless && attack.body === undefined ? { ...attack, path: '/v1/models', method: 'GET' } : attack
  const status = await deliver(target, sent, body)
  report.requests++
  report.slowest.push({ name: attack.name, ms: Math.round(performance.now() - startMs) })
  if (status === undefined && (attack.delivery === 'cut' || attack.delivery === 'left')) return
  const name = String(status ?? 'none')
  report.statuses[name] = (report.statuses[name] ?? 0) + 1
}

const noTransfer: [] = []
parentPort!.on('message', (plan: AttackPlan) => {
  void run(plan).then(
    (report) => parentPort!.postMessage({ report }, noTransfer),
    (error: unknown) => parentPort!.postMessage({ failed: String(error) }, noTransfer),
  )
})
