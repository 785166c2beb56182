import { parseArgs } from 'node:util'
import { commandActor } from '../../../db/accounts/audit-log.ts'
import { listPauses, setPaused, type Pause } from '../../../db/accounts/pauses.ts'
import { everyEntity } from '../../../db/jobs/queue-blocks.ts'
import type { Pool } from '../../../db/pool.ts'
import { CommandError, requireEntityName, type PreparedCommand, type Printed } from './command.ts'
import { formatTable } from './table.ts'

export const queueUsage = `usage: npm run queue -- list
       npm run queue -- pause [ENTITY]    no waiting job of the entity begins, or of any; running jobs go on
       npm run queue -- resume [ENTITY]   ends such a pause`

/** Pauses and resumes the jobs of an entity, or of all, and shows what is paused. */
export function prepareQueueCommand(args: string[]): PreparedCommand {
  const [verb, entity, ...rest] = readPositionals(args)
  if (verb === 'list' && entity === undefined) return showPauses
  if ((verb !== 'pause' && verb !== 'resume') || rest.length > 0) throw new CommandError(queueUsage)
  if (entity !== undefined) requireEntityName(entity)
  return (pool) => changePause(pool, entity, verb === 'pause')
}

function readPositionals(args: string[]): string[] {
  try {
    return parseArgs({ args, options: {}, allowPositionals: true }).positionals
  } catch (cause) {
    throw new CommandError(`${(cause as Error).message}\n${queueUsage}`, { cause })
  }
}

async function changePause(pool: Pool, entity: string | undefined, isPaused: boolean): Promise<Printed> {
  const pause = { entity: entity ?? everyEntity, byAdministrator: true, actor: commandActor }
  const isChanged = await setPaused(pool, pause, isPaused)
  const whose = entity === undefined ? 'all entities' : entity
  const what = isPaused ? 'paused: jobs that run go on, and no other begins' : 'not paused by this command any more'
  return { output: '', note: `The jobs of ${whose} ${isChanged ? 'are' : 'were already'} ${what}.\n` }
}

async function showPauses(pool: Pool): Promise<Printed> {
  const pauses = await listPauses(pool)
  if (pauses.length === 0) return { output: '', note: 'Nothing is paused.\n' }
  return { output: formatTable(pauses.map(describe)) }
}

function describe({ entity, byAdministrator, pausedAt }: Pause): Record<string, string> {
  return {
    'PAUSED SINCE': pausedAt.toISOString(),
    BY: byAdministrator ? 'the administrator' : 'an admin of the entity',
    ENTITY: entity === everyEntity ? 'all entities' : entity,
  }
}
