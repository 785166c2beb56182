import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import type { Stack } from './stack.ts'

const run = promisify(execFile)
const chart = path.resolve(import.meta.dirname, '../../helm/trainyard')

/** The members of a rendered object that tests read. */
export interface Manifest {
  kind: string
  metadata: { name: string; namespace?: string }
  [field: string]: unknown
}

/** Helm with this project's chart, on the stack's cluster. */
export function createHelm(stack: Stack) {
  const helm = async (command: string[], namespace: string, values: object) => {
    const options = { env: { ...process.env, KUBECONFIG: stack.kubeconfig }, maxBuffer: 16 * 1024 * 1024 }
    return withFile('values.json', JSON.stringify(values), async (file) => {
      const args = [...command, 'trainyard', chart, '--namespace', namespace, '--values', file]
      return (await run(stack.helmPath, args, options)).stdout
    })
  }
  return {
    render: (namespace: string, values: object) => helm(['template'], namespace, values),
    upgrade: (namespace: string, values: object) => helm(['upgrade', '--install', '--skip-crds'], namespace, values),
    /** Returns the API server's answer to the rendered objects. Throws if it rejects them. */
    dryRun: (manifests: string) =>
      withFile('manifests.yaml', manifests, (file) =>
        stack.kubectl('apply', '--server-side', '--dry-run=server', '--filename', file),
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
