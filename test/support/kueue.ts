import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { layoutOf } from '../../local/stack/layout.ts'
import { certificatesOf } from '../../local/stack/programs/certificates.ts'
import { startChildProgram } from './child-program.ts'
import { findFreePort } from './free-port.ts'
import { installGoTool } from './go-tool.ts'
import type { Stack } from './stack.ts'

const goModule = 'sigs.k8s.io/kueue'
// Kueue reads the certificate of its metrics below /etc, whatever its configuration says. It gets an /etc of its own.
const withEtc = ['--user', '--map-root-user', '--mount', 'sh', '-c', 'mount --bind "$0" /etc && exec "$@"']
export const kueueApi = 'kueue.x-k8s.io/v1beta2'

/**
 * Starts the real controller of Kueue beside a stack, with its definitions. It manages the Jobs that name a queue. Returns
 * what ends it. Its webhooks are left out: kube-apiserver could not reach them here, and they only check objects and fill in
 * what these tests write themselves.
 */
export async function startKueue(stack: Stack): Promise<() => Promise<void>> {
  const program = await installGoTool({ program: 'kueue', package: `${goModule}/cmd/kueue`, folder: 'kueue' })
  const folder = await mkdtemp(path.join(tmpdir(), 'trainyard-kueue-'))
  await addDefinitions(stack)
  const [webhookPort, healthPort] = [await findFreePort(), await findFreePort()]
  const configFile = path.join(folder, 'config.json')
  const ownEtc = path.join(folder, 'etc')
  const certDir = await linkCertificates(stack, path.join(ownEtc, 'kueue/metrics/certs'))
  await writeFile(configFile, JSON.stringify(configure({ webhookPort, healthPort, certDir })))
  const command = [program, '--config', configFile, '--feature-gates', 'VisibilityOnDemand=false']
  return startChildProgram({
    command: 'unshare',
    args: [...withEtc, ownEtc, ...command],
    env: { ...process.env, KUBECONFIG: stack.kubeconfig },
    folder,
    ready: async () => {
      const { ok } = await fetch(`http://127.0.0.1:${healthPort}/readyz`)
      if (!ok) throw new Error('Kueue is not ready')
    },
  })
}

/** The definitions are in the Go module. */
async function addDefinitions({ kubectl }: Stack): Promise<void> {
  const cwd = path.join(import.meta.dirname, 'kueue')
  const { stdout } = await promisify(execFile)('go', ['list', '-m', '-f', '{{.Dir}}', goModule], { cwd })
  const definitions = path.join(stdout.trim(), 'config/components/crd/bases')
  // Some are larger than the annotation of a client-side apply may be.
  await kubectl('apply', '--server-side', '-f', definitions)
  await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s')
}

/** The certificate of the stack's API server, under the names that Kueue reads. */
async function linkCertificates({ stateFolder }: Stack, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  const { apiserver, apiserverKey } = certificatesOf(layoutOf(stateFolder))
  await symlink(apiserver, path.join(folder, 'tls.crt'))
  await symlink(apiserverKey, path.join(folder, 'tls.key'))
  return folder
}

function configure({ webhookPort, healthPort, certDir }: { webhookPort: number; healthPort: number; certDir: string }) {
  return {
    apiVersion: 'config.kueue.x-k8s.io/v1beta2',
    kind: 'Configuration',
    health: { healthProbeBindAddress: `127.0.0.1:${healthPort}` },
    metrics: { bindAddress: '0' },
    webhook: { host: '127.0.0.1', port: webhookPort, certDir },
    leaderElection: { leaderElect: false },
    internalCertManagement: { enable: false },
    integrations: { frameworks: ['batch/job'] },
  }
}
