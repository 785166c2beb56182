import { memoryLimitBytes } from './besieged-server.ts'
import { mib } from './bodies.ts'
import type { Question } from './neighbour.ts'
import type { SiegeReport } from './siege.ts'

const backendLimitBytes = 256 * mib
const goals = { latencyRatio: 1.5, latencyMs: 100, memoryRatio: 1.3 }
// These machines are noisy. A time above its goal is only printed. A time far above it is a fault.
const tolerance = 10

/** Prints the results, each beside its goal. */
export function printSiege(seed: number, report: SiegeReport): void {
  const { requests, statuses, slowest, harmlessP99Ms, hostileP99Ms } = report
  const inMib = (bytes: number) => `${Math.round(bytes / mib)} MiB`
  const rows = [
    `seed ${seed}: ${requests} hostile requests, answered ${JSON.stringify(statuses)}`,
    `server at most ${inMib(report.serverPeakBytes)} (${inMib(memoryLimitBytes)}), ` +
      `a backend of Postgres ${inMib(report.backendPeakBytes)} (${inMib(backendLimitBytes)}), ` +
      `server afterwards ${report.memoryRatio.toFixed(2)} of before (${goals.memoryRatio})`,
    ...listQuestions(report).map(
      (question) =>
        `${question.padEnd(7)} p99 ${hostileP99Ms[question]} ms beside attacks, ` +
        `${harmlessP99Ms[question]} ms beside harmless requests (at most ${goalOf(report, question)})`,
    ),
    ...slowest.slice(0, 5).map(({ name, ms }) => `${ms} ms: ${name}`),
  ]
  process.stdout.write(`${rows.join('\n')}\n`)
}

/** Lists what is wrong with a service after a siege. */
export function checkSiege(report: SiegeReport): string[] {
  const late = listQuestions(report).filter(
    (question) => report.hostileP99Ms[question] > tolerance * goalOf(report, question),
  )
  return [
    ...(report.fatal ? [`the server ended with: ${report.fatal}`] : []),
    ...report.failures.slice(0, 10),
    ...report.lost.map((what) => `${what} was acknowledged, and is lost`),
    ...(report.kills > 0 ? ['the server needed more memory than it may have, and was ended'] : []),
    ...(report.serverPeakBytes > memoryLimitBytes ? [`the server had ${report.serverPeakBytes} bytes`] : []),
    ...(report.backendPeakBytes > backendLimitBytes ? [`a backend had ${report.backendPeakBytes} bytes`] : []),
    ...late.map((question) => `${question} took ${report.hostileP99Ms[question]} ms`),
  ]
}

const listQuestions = ({ hostileP99Ms }: SiegeReport) => Object.keys(hostileP99Ms) as Question[]

function goalOf({ harmlessP99Ms }: SiegeReport, question: Question): number {
  return Math.round(harmlessP99Ms[question] * goals.latencyRatio + goals.latencyMs)
}
