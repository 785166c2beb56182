import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { clusterEnv } from './run-kubectl.ts'

const run = promisify(execFile)
/** The folder of the chart. */
export const chart = path.resolve(import.meta.dirname, '../../helm/trainyard')

/** The members of a rendered object that tests read. */
export interface Manifest {
  kind: string
  metadata: { name: string; namespace?: string }
  [field: string]: unknown
}

/** What Helm needs of a cluster. */
interface Cluster {
  kubeconfig: string
  helmPath: string
  kubectl: (...args: string[]) => Promise<string>
}

/** What an installation must name. */
const required = {
  secrets: { databaseUrl: 'postgres://trainyard@postgres.example:5432/required' },
  artifacts: { persistentVolumeClaim: { accessMode: 'ReadWriteMany' } },
}

/** Helm with this project's chart, or a changed copy, on a cluster. TRAINYARD_TEST_HELM names another Helm. */
export function createHelm(cluster: Cluster, folder = chart) {
  const call = async (args: string[]) => {
    const options = { env: clusterEnv(cluster), maxBuffer: 16 * 1024 * 1024 }
    return (await run(process.env['TRAINYARD_TEST_HELM'] ?? cluster.helmPath, args, options)).stdout
  }
  const helm = (command: string[], namespace: string, values: object) =>
    withFile('required.json', JSON.stringify(required), (first) =>
      withFile('values.json', JSON.stringify(values), (second) =>
        call([...command, 'trainyard', folder, '--namespace', namespace, '--values', first, '--values', second]),
      ),
    )
  return {
    render: (namespace: string, values: object, ...options: string[]) =>
      helm(['template', ...options], namespace, values),
    /** Only with the values of a file. */
    renderFile: (namespace: string, file: string) =>
      call(['template', 'trainyard', folder, '--namespace', namespace, '--values', file]),
    /** What an installation prints. */
    notes: (namespace: string, values: object) =>
      helm(['install', '--dry-run=client'], namespace, values).then((text) => text.split('\nNOTES:\n')[1]!),
    upgrade: (namespace: string, values: object) =>
      helm(['upgrade', '--install', '--create-namespace'], namespace, values),
    rollback: (namespace: string, revision: number) =>
      call(['rollback', 'trainyard', String(revision), '--namespace', namespace, '--wait']),
    uninstall: (namespace: string) => call(['uninstall', 'trainyard', '--namespace', namespace, '--wait']),
    /** Returns the API server's answer to the rendered objects. Throws if it rejects them. */
    dryRun: (manifests: string) =>
      withFile('manifests.yaml', manifests, (file) =>
        cluster.kubectl('apply', '--server-side', '--dry-run=server', '--filename', file),
      ),
  }
}

/** Parses the objects of a rendering. */
export function parseManifests(manifests: string): Manifest[] {
  return parseAllDocuments(manifests).map((document) => document.toJS() as Manifest)
}

async function withFile<T>(name: string, content: string, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), 'chart-'))
  try {
    const file = path.join(folder, name)
    await writeFile(file, content)
    return await use(file)
  } finally {
    await rm(folder, { recursive: true })
  }
}
