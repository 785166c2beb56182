import { findHome, moveHome, recordHome, touchHome, type Home } from '../db/home/home.ts'
import type { Pool } from '../db/pool.ts'
import { readInstallation } from '../db/store/installation.ts'
import { createObject, readObject } from '../lib/kube/apply.ts'
import type { KubeClient } from '../lib/kube/client.ts'
import type { ConfigMap } from '../lib/kube/objects.ts'
import { configMapPath } from '../lib/kube/paths.ts'
import type { Logger } from '../lib/log.ts'
import { repeat } from '../lib/repeat.ts'

/** The object that has the installation's id. */
const homeName = 'trainyard-installation'

// An operator that has not worked for this long in its home works there no more.
const activeSeconds = 60
const stayMs = 10_000

interface Deps {
  client: KubeClient
  pool: Pool
  namespace: string
  log: Logger
}

/** An operator must not work here. */
class NotAtHome extends Error {
  override readonly name = 'NotAtHome'
}

/**
 * Finds out whether the resources of this installation are in this cluster and namespace. In a new or emptied cluster,
 * and in another namespace, nothing was deleted by anybody: the resources are made again.
 *
 * @throws {NotAtHome} if the namespace belongs to another installation, or an operator works in another home
 */
export async function enterHome(deps: Deps): Promise<Home> {
  const { pool, namespace, log } = deps
  const { id } = await readInstallation(pool)
  const uid = await signNamespace(deps, id)
  const home = { namespace, uid }
  const known = await findHome(pool)
  if (!known) await recordHome(pool, home)
  else if (known.uid !== uid) {
    if (known.idleSeconds < activeSeconds) throw new NotAtHome(describeOther(known.namespace))
    await moveHome(pool, known, home)
    log.warn({ from: known.namespace, to: namespace }, 'the installation has moved; its resources are made again')
  }
  return home
}

/** Records regularly that we work in a home, and ends the process if the installation has moved. */
export function startStaying({ pool, log }: Pick<Deps, 'pool' | 'log'>, home: Home): () => Promise<void> {
  const stop = new AbortController()
  const stay = async () => {
    if (await touchHome(pool, home.uid)) return
    log.fatal({ namespace: home.namespace }, 'the installation has moved to another cluster or namespace')
    process.exit(1)
  }
  const onError = (error: unknown) => log.warn({ error }, 'it is not known whether the installation has moved')
  const running = repeat(stay, { pauseMs: stayMs, signal: stop.signal, onError })
  return async () => {
    stop.abort()
    await running
  }
}

/** Writes the id into the namespace, unless it is there. Returns the uid of the object that has it. */
async function signNamespace(place: Pick<Deps, 'client' | 'namespace'>, id: string): Promise<string> {
  const { client, namespace } = place
  const path = configMapPath(namespace, homeName)
  const present = await readObject<ConfigMap>(client, path)
  if (present?.data?.['id'] === id && present.metadata.uid) return present.metadata.uid
  if (present) throw new NotAtHome(describeForeign(namespace))
  const sign = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: homeName, namespace }, data: { id } }
  await createObject(client, configMapPath(namespace), sign)
  // Another replica may have created it at the same time.
  return signNamespace(place, id)
}

function describeOther(namespace: string): string {
  return (
    `an operator of this installation works in the namespace ${namespace}, here or in another cluster. ` +
    `It must have been stopped for ${activeSeconds} seconds.`
  )
}

function describeForeign(namespace: string): string {
  return (
    `the namespace ${namespace} belongs to another installation than the database. If the database is the right one, ` +
    `delete the ConfigMap ${homeName}.`
  )
}
