import { createConsoleLink } from '../../apiserver/accounts/admin/console-command.ts'
import { defaultEntity, withDatabase } from './api-key.ts'
import type { StackEnv } from './env-file.ts'
import { databaseUrl } from './programs/postgres.ts'
import { requireRunning } from './require-running.ts'

/** A line with a link that logs a browser into the running stack's console, once. */
export async function describeConsole(stateFolder: string, { TRAINYARD_URL: url }: StackEnv): Promise<string> {
  const wanted = { entity: defaultEntity, role: 'admin', url } as const
  const link = await withDatabase(databaseUrl(requireRunning(stateFolder)), (pool) => createConsoleLink(pool, wanted))
  return `The console, for ten minutes ("npm run console" prints another link): ${link}`
}
