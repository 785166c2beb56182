import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { StackHandle } from './global-setup.ts'

const run = promisify(execFile)
const maxBuffer = 16 * 1024 * 1024

type Cluster = Pick<StackHandle, 'kubectlPath' | 'kubeconfig'>

/** For kubectl and helm. They run for a moment, and thousands of times: without garbage collection they take a third less. */
export const clusterEnv = ({ kubeconfig }: Pick<Cluster, 'kubeconfig'>) => ({
  ...process.env,
  KUBECONFIG: kubeconfig,
  GOGC: 'off',
  GOMAXPROCS: '1',
})

/** Runs kubectl on a stack. Returns its standard output. @throws when it exits non-zero, with its standard error */
export async function runKubectl(cluster: Cluster, args: readonly string[]): Promise<string> {
  const { stdout } = await run(cluster.kubectlPath, args, { env: clusterEnv(cluster), maxBuffer })
  return stdout
}

/** Runs `kubectl apply -f -` on one object, with more options. */
export function applyWithKubectl(cluster: Cluster, object: object, ...options: string[]): Promise<string> {
  const args = ['apply', '-f', '-', ...options]
  return new Promise((resolve, reject) => {
    const child = execFile(cluster.kubectlPath, args, { env: clusterEnv(cluster) }, (error, stdout, stderr) =>
      error ? reject(new Error(stderr.trim(), { cause: error })) : resolve(stdout),
    )
    child.stdin?.end(JSON.stringify(object))
  })
}
