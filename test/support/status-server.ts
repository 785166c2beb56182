import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { eventually } from './eventually.ts'
import { findFreePort } from './free-port.ts'
import { nodeEnv, nodeFlags } from './node-env.ts'
import { openSeverableProxy, type SeverableProxy } from './severable-proxy.ts'
import type { Stack } from './stack.ts'
import { createNamespace, removeNamespace } from './namespace.ts'

/**
 * A running status server for one test, with its own namespace and database. The test can cut the connections to both.
 */
export interface RunningStatusServer {
  namespace: string
  url: string
  pid: number
  postgres: SeverableProxy
  kube: SeverableProxy
  /** Sends SIGTERM. Returns the exit code. */
  stop: () => Promise<number | null>
  /** Ends the process if it runs, and removes the namespace. */
  remove: () => Promise<void>
}

interface Cluster {
  server: string
  'certificate-authority-data': string
}

interface Wanted {
  namespace?: string
  /** Additional variables. */
  env?: Record<string, string>
}

/** Starts operator/status-server/main.ts as its pod would. */
export async function startStatusServer(
  stack: Stack,
  databaseUrl: string,
  { namespace = `status-${randomUUID().slice(0, 8)}`, env }: Wanted = {},
): Promise<RunningStatusServer> {
  await createNamespace(stack, namespace)
  for (const name of ['trainyard-status-server', 'trainyard-trainer', 'somebody']) {
    await stack.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } })
  }
  await allowPods(stack, namespace)
  const cluster = await readCluster(stack)
  const kube = await openSeverableProxy(addressOf(cluster.server))
  const postgres = await openSeverableProxy(addressOf(databaseUrl))
  const folder = await mkdtemp(path.join(tmpdir(), 'status-server-'))
  await writeServiceAccount(
    folder,
    cluster,
    await stack.kubectl('create', 'token', 'trainyard-status-server', `-n${namespace}`),
  )
  const ownDatabaseUrl = new URL(databaseUrl)
  ownDatabaseUrl.host = `127.0.0.1:${postgres.port}`
  const port = await findFreePort()
  const child = spawn(process.execPath, [...nodeFlags, 'operator/status-server/main.ts'], {
    env: {
      ...nodeEnv,
      TRAINYARD_HOST: '127.0.0.1',
      TRAINYARD_PORT: String(port),
      DATABASE_URL: ownDatabaseUrl.href,
      TRAINYARD_NAMESPACE: namespace,
      TRAINYARD_SERVICE_ACCOUNT_DIR: folder,
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: String(kube.port),
      LOG_LEVEL: 'fatal',
      ...env,
    },
    stdio: 'inherit',
  })
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  const url = `http://127.0.0.1:${port}`
  await eventually(
    async () => {
      if (!(await fetch(`${url}/health`)).ok) throw new Error('not healthy')
    },
    60_000,
    50,
  )
  return {
    namespace,
    url,
    pid: child.pid!,
    postgres,
    kube,
    stop: () => (child.kill('SIGTERM'), exited),
    remove: async () => {
      if (child.exitCode === null) child.kill('SIGKILL')
      await exited
      await Promise.all([postgres.close(), kube.close(), rm(folder, { recursive: true })])
      await removeNamespace(stack, namespace)
    },
  }
}

async function readCluster(stack: Stack): Promise<Cluster> {
  const config = JSON.parse(await stack.kubectl('config', 'view', '--raw', '--flatten', '--minify', '-ojson')) as {
    clusters: { cluster: Cluster }[]
  }
  return config.clusters[0]!.cluster
}

async function writeServiceAccount(folder: string, cluster: Cluster, token: string): Promise<void> {
  await writeFile(path.join(folder, 'ca.crt'), Buffer.from(cluster['certificate-authority-data'], 'base64'))
  await writeFile(path.join(folder, 'token'), token)
}

function addressOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
}

/** Creates a token of a trainer pod. The pod is created for it and never runs. */
export async function makeTrainerToken(
  stack: Pick<Stack, 'apply' | 'kubectl'>,
  namespace: string,
  pod = 'trainer-0',
): Promise<string> {
  await stack.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: pod, namespace },
    spec: {
      serviceAccountName: 'trainyard-trainer',
      containers: [{ name: 'trainer', image: 'none' }],
      schedulerName: 'nobody',
    },
  })
  const bound = ['--bound-object-kind', 'Pod', '--bound-object-name', pod]
  const audience = ['--audience', 'trainyard-status']
  return (await stack.kubectl('create', 'token', 'trainyard-trainer', `-n${namespace}`, ...audience, ...bound)).trim()
}

/** Lets the status servers of a namespace read its pods, as the chart does. */
async function allowPods(stack: Stack, namespace: string): Promise<void> {
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const metadata = { name: 'status-server', namespace }
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]
  await stack.apply({ apiVersion, kind: 'Role', metadata, rules })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name }
  const subjects = [{ kind: 'ServiceAccount', name: 'trainyard-status-server', namespace }]
  await stack.apply({ apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects })
}
