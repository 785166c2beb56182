import { randomUUID } from 'node:crypto'
import { commandActor as by } from '../../../db/accounts/audit-log.ts'
import { loginCodeMinutes } from '../../../db/accounts/sessions.ts'
import type { KeyRole } from '../../../db/accounts/api-keys.ts'
import type { Pool } from '../../../db/pool.ts'
import { createLoginCode } from '../sessions/service.ts'
import { CommandError, readArguments, requireEntity, type PreparedCommand } from './command.ts'
import { loadPublicUrl } from './config.ts'

export const consoleUsage = `usage: npm run console -- ENTITY [--role admin|member|read] [--url URL]
       It prints a link that logs one browser in, once, within ${loginCodeMinutes} minutes.`

const roles: readonly KeyRole[] = ['admin', 'member', 'read']
const options = { role: { type: 'string', default: 'admin' }, url: { type: 'string' } } as const

/** Makes a link to the console that logs one browser in. */
export function prepareConsoleCommand(args: string[]): PreparedCommand {
  const { entity, values } = readArguments(args, options, consoleUsage)
  requireEntity(entity)
  const role = roles.find((each) => each === values.role)
  const url = values.url ?? loadPublicUrl()
  if (role === undefined || url === undefined || !URL.canParse(url)) throw new CommandError(consoleUsage)
  return async (pool) => ({
    note: `A link for ${entity} with the role ${role}. It can be opened once, within ${loginCodeMinutes} minutes:\n`,
    output: `${await createConsoleLink(pool, { entity, role, url })}\n`,
  })
}

/** Creates a link that logs one browser in. */
export async function createConsoleLink(
  pool: Pool,
  { entity, role, url }: { entity: string; role: KeyRole; url: string },
): Promise<string> {
  const code = await createLoginCode(pool, { entity, role, keyId: randomUUID(), by })
  return `${url.replace(/\/+$/, '')}/login#code=${code}`
}
