import { parseArgs } from 'node:util'
import { keepGarbage, listGarbage, releaseGarbage, type GarbageRow } from '../../../db/gc/garbage.ts'
import type { Pool } from '../../../db/pool.ts'
import { readInstallation, wantClaim } from '../../../db/store/installation.ts'
import { CommandError, type PreparedCommand, type Printed } from './command.ts'
import { formatTable } from './table.ts'

export const garbageUsage = `usage: npm run garbage -- list
       npm run garbage -- keep PREFIX... | --all      do not remove these objects
       npm run garbage -- release PREFIX... | --all   remove them after seven days in quarantine
       npm run garbage -- claim                       the artifact store belongs to this installation`

const options = { all: { type: 'boolean' } } as const

type Prefixes = string[] | 'all'

const changes: Record<string, (pool: Pool, prefixes: Prefixes) => Promise<Printed>> = { keep, release }

/** Lists unreferenced objects of the artifact store, and keeps or releases them. Objects are never moved. */
export function prepareGarbageCommand(args: string[]): PreparedCommand {
  const { verb, prefixes, all } = readGarbageArguments(args)
  const isAlone = prefixes.length === 0 && !all
  if (verb === 'list' && isAlone) return showGarbage
  if (verb === 'claim' && isAlone) return claim
  const change = verb !== undefined && Object.hasOwn(changes, verb) ? changes[verb] : undefined
  if (!change || prefixes.length > 0 === all) throw new CommandError(garbageUsage)
  return (pool) => change(pool, all ? 'all' : prefixes)
}

function readGarbageArguments(args: string[]) {
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    const [verb, ...prefixes] = positionals
    return { verb, prefixes, all: values.all ?? false }
  } catch (cause) {
    throw new CommandError(`${(cause as Error).message}\n${garbageUsage}`, { cause })
  }
}

async function showGarbage(pool: Pool): Promise<Printed> {
  const { id, trouble } = await readInstallation(pool)
  const garbage = await listGarbage(pool)
  const state = trouble ?? 'garbage is removed from the artifact store'
  const note = `Installation ${id}: ${state}.\n${garbage.length === 0 ? 'Nothing is in quarantine, and nothing is kept.\n' : ''}`
  return { output: garbage.length > 0 ? formatTable(garbage.map(describe)) : '', note }
}

function describe({ prefix, bytes, unseen, quarantinedAt, keptAt }: GarbageRow): Record<string, string> {
  return {
    'QUARANTINED SINCE': quarantinedAt.toISOString(),
    STATE: keptAt ? 'kept' : unseen ? 'unknown' : 'unused',
    BYTES: String(bytes),
    PREFIX: prefix,
  }
}

async function keep(pool: Pool, prefixes: Prefixes): Promise<Printed> {
  return printCount(await keepGarbage(pool, prefixes), prefixes, 'kept')
}

async function release(pool: Pool, prefixes: Prefixes): Promise<Printed> {
  return printCount(
    await releaseGarbage(pool, prefixes),
    prefixes,
    'released, and removed after seven days in quarantine',
  )
}

function printCount(count: number, prefixes: Prefixes, what: string): Printed {
  const wanted = prefixes === 'all' ? '' : ` of ${prefixes.length}`
  return { output: '', note: `${count}${wanted} are ${what}; "list" shows all.\n` }
}

async function claim(pool: Pool): Promise<Printed> {
  await wantClaim(pool)
  const note =
    'The operator claims the artifact store within seconds. It keeps objects that the database does not know; "list" ' +
    'then shows them. If another installation still uses the store, removal stops again.\n'
  return { output: '', note }
}
