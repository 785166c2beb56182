import {
  findOperatorNamespace,
  moveInstallation,
  recordOperatorNamespace,
  touchOperatorNamespace,
  type OperatorNamespace,
} from '../db/store/operator-namespace.ts'
import type { Pool } from '../db/pool.ts'
import { readInstallation } from '../db/store/installation.ts'
import { createObject, readObject } from '../lib/kube/apply.ts'
import type { KubeClient } from '../lib/kube/client.ts'
import type { ConfigMap } from '../lib/kube/objects.ts'
import { configMapPath } from '../lib/kube/paths.ts'
import type { Logger } from '../lib/log.ts'
import { repeat } from '../lib/repeat.ts'

/** The object that has the installation's id. */
const configMapName = 'trainyard-installation'

// An operator that has recorded no work for this long has left its namespace.
const activeSeconds = 60
const heartbeatMs = 10_000

interface Deps {
  client: KubeClient
  pool: Pool
  namespace: string
  log: Logger
}

/** An operator must not work here. */
class NamespaceConflict extends Error {
  override readonly name = 'NamespaceConflict'
}

/**
 * Finds out whether the resources of this installation are in this cluster and namespace. In a new or emptied cluster,
 * and in another namespace, nothing was deleted by anybody: the resources are made again.
 *
 * @throws {NamespaceConflict} if the namespace belongs to another installation, or an operator works in another one
 */
export async function claimNamespace(deps: Deps): Promise<OperatorNamespace> {
  const { pool, namespace, log } = deps
  const { id } = await readInstallation(pool)
  const uid = await signNamespace(deps, id)
  const own = { namespace, uid }
  const known = await findOperatorNamespace(pool)
  if (!known) await recordOperatorNamespace(pool, own)
  else if (known.uid !== uid) {
    if (known.idleSeconds < activeSeconds) throw new NamespaceConflict(describeOther(known.namespace))
    await moveInstallation(pool, known, own)
    log.warn({ from: known.namespace, to: namespace }, 'the installation has moved; its resources are made again')
  }
  return own
}

/** Records regularly that we work in a namespace, and ends the process if the installation has moved. */
export function startNamespaceHeartbeat(
  { pool, log }: Pick<Deps, 'pool' | 'log'>,
  own: OperatorNamespace,
): () => Promise<void> {
  const stop = new AbortController()
  const touch = async () => {
    if (await touchOperatorNamespace(pool, own.uid)) return
    log.fatal({ namespace: own.namespace }, 'the installation has moved to another cluster or namespace')
    process.exit(1)
  }
  const onError = (error: unknown) => log.warn({ error }, 'it is not known whether the installation has moved')
  const running = repeat(touch, { pauseMs: heartbeatMs, signal: stop.signal, onError })
  return async () => {
    stop.abort()
    await running
  }
}

/** Writes the id into the namespace, unless it is there. Returns the uid of the object that has it. */
async function signNamespace(deps: Pick<Deps, 'client' | 'namespace'>, id: string): Promise<string> {
  const { client, namespace } = deps
  const path = configMapPath(namespace, configMapName)
  const present = await readObject<ConfigMap>(client, path)
  if (present?.data?.['id'] === id && present.metadata.uid) return present.metadata.uid
  if (present) throw new NamespaceConflict(describeForeign(namespace))
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: configMapName, namespace }, data: { id } }
  await createObject(client, configMapPath(namespace), body)
  // Another replica may have created it at the same time.
  return signNamespace(deps, id)
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
    `delete the ConfigMap ${configMapName}.`
  )
}
