import { createArtifactStore } from '../../artifacts/store/create-store.ts'
import type { Installation } from '../../operator/backup/config.ts'
import { createLogger } from '../../lib/log.ts'
import { layoutOf } from './layout.ts'
import { databaseUrl } from './programs/postgres.ts'
import type { StackSettings } from './settings.ts'

/** The databases, the store and the keys of a local stack whose Postgres runs. */
export async function installationOf(stateFolder: string, settings: StackSettings): Promise<Installation> {
  const url = databaseUrl(settings)
  const { engineKey, webhookKey } = settings.secrets
  return {
    databases: { main: url, tracing: url },
    artifacts: await createArtifactStore(layoutOf(stateFolder).artifacts),
    keys: { 'engine-key': engineKey, 'webhook-key': webhookKey },
    log: createLogger('backup', 'error'),
    say: (line) => void process.stderr.write(`${line}\n`),
  }
}
