import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { StackHandle } from './global-setup.ts'

const run = promisify(execFile)
const maxBuffer = 16 * 1024 * 1024

type Cluster = Pick<StackHandle, 'kubectlPath' | 'kubeconfig'>

/** A kubectl runs for a moment, and a test run starts thousands: without garbage collection they take a third less. */
const kubectlEnv = ({ kubeconfig }: Cluster) => ({
  ...process.env,
  KUBECONFIG: kubeconfig,
  GOGC: 'off',
  GOMAXPROCS: '1',
})

/** Runs kubectl on a stack. Returns its standard output. @throws when it exits non-zero, with its standard error */
export async function runKubectl(cluster: Cluster, args: readonly string[]): Promise<string> {
  const { stdout } = await run(cluster.kubectlPath, args, { env: kubectlEnv(cluster), maxBuffer })
  return stdout
}

/** Runs `kubectl apply -f -` on one object, with more options. */
export function applyWithKubectl(cluster: Cluster, object: object, ...options: string[]): Promise<string> {
  const args = ['apply', '-f', '-', ...options]
  return new Promise((resolve, reject) => {
    const child = execFile(cluster.kubectlPath, args, { env: kubectlEnv(cluster) }, (error, stdout, stderr) =>
      error ? reject(new Error(stderr.trim(), { cause: error })) : resolve(stdout),
    )
    child.stdin?.end(JSON.stringify(object))
  })
}
