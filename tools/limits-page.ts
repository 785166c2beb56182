import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { limitSettings } from '../apiserver/accounts/limits/settings.ts'
import {
  memoryLimits,
  otherLimits,
  permitLimits,
  pointLimits,
  type Limit,
  type PermitLimit,
} from '../apiserver/accounts/limits/table.ts'

const root = path.dirname(import.meta.dirname)
const file = path.join(root, 'docs', 'limits.md')

/** Renders docs/limits.md: the handwritten text above the tables, and the tables of limits. */
export function renderLimitsPage(): string {
  const head = readFileSync(path.join(import.meta.dirname, 'limits-head.md'), 'utf8')
  return [head, ownLimits(), permits(), memory(), points(), others()].join('\n')
}

/** Limits that each entity has of its own. */
function ownLimits(): string {
  const all: Record<string, Limit> = { ...permitLimits, ...pointLimits, ...otherLimits }
  const rows = Object.entries(all).flatMap(([name, limit]) => {
    const setting = `TRAINYARD_DEFAULT_${name.toUpperCase()}`
    if (!(setting in limitSettings)) return []
    const { default: value } = limitSettings[setting as keyof typeof limitSettings] as { default?: unknown }
    return [[code(name), presentCount(value), limit.what, answerOf(limit), limit.reason]]
  })
  return renderTable('Limits of each entity', ['limit', 'default', 'what', 'answer', 'why'], rows)
}

function permits(): string {
  const rows = listShared(permitLimits).map(([name, limit]: [string, PermitLimit]) => [
    code(name),
    limit.what,
    typeof limit.permits === 'number' ? presentCount(limit.permits) : '3/4 of `TRAINYARD_TRACING_CONNECTIONS`',
    presentShare(limit.share),
    limit.waitMs === Infinity ? 'until its turn' : `${limit.waitMs / 1_000} s`,
    answerOf(limit),
    limit.reason,
  ])
  const columns = ['limit', 'what', 'at once', 'share of one entity', 'others wait', 'answer', 'why']
  return renderTable('Work at the same time, in each process', columns, rows)
}

function memory(): string {
  const rows = Object.entries(memoryLimits).map(([name, limit]) => [
    code(name),
    limit.what,
    `${limit.bytes / 1024 ** 2} MiB`,
    presentShare(limit.share),
    answerOf(limit),
    limit.reason,
  ])
  const columns = ['limit', 'what', 'in each process', 'share of one entity', 'answer', 'why']
  return renderTable('Memory', columns, rows)
}

function points(): string {
  const rows = listShared(pointLimits).map(([name, limit]) => [
    code(name),
    limit.what,
    'perMinute' in limit ? presentCount(limit.perMinute) : '',
    answerOf(limit),
    limit.reason,
  ])
  return renderTable('Requests of an entity in a minute', ['limit', 'what', 'at most', 'answer', 'why'], rows)
}

function others(): string {
  const rows = listShared(otherLimits).map(([name, limit]: [string, Limit & { most?: number }]) => [
    code(name),
    limit.what,
    limit.most === undefined ? '' : presentCount(limit.most),
    answerOf(limit),
    limit.reason,
  ])
  return renderTable('What else is counted or waited for', ['limit', 'what', 'at most', 'answer', 'why'], rows)
}

/** Limits that are the same for all entities. */
function listShared<Row>(table: Record<string, Row>): [string, Row][] {
  return Object.entries(table).filter(([name]) => !(`TRAINYARD_DEFAULT_${name.toUpperCase()}` in limitSettings))
}

function answerOf({ error, otherError }: Limit): string {
  const found = [error, otherError].filter((definition) => definition !== undefined)
  return found.map(({ status, code: name }) => `${status} ${code(name)}`).join(', ') || 'none'
}

function presentCount(count: unknown): string {
  return typeof count === 'number' ? count.toLocaleString('en') : String(count)
}

function presentShare(share: number): string {
  return share === 1 ? 'all' : `1/${Math.round(1 / share)}`
}

const code = (name: string) => `\`${name}\``

function renderTable(title: string, columns: string[], rows: string[][]): string {
  const lines = [columns, columns.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |\n`)
  return `## ${title}\n\n${lines.join('')}`
}

if (import.meta.main) {
  const page = renderLimitsPage()
  if (!process.argv.includes('--check')) writeFileSync(file, page)
  else if (page !== readFileSync(file, 'utf8')) {
    console.error('docs/limits.md is not what the tables of limits make: npm run gen')
    process.exitCode = 1
  }
}
