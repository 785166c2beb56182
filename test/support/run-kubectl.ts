import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { StackHandle } from './global-setup.ts'

const run = promisify(execFile)
const maxBuffer = 16 * 1024 * 1024

/** Runs kubectl on a stack outside of a test. Returns its output. */
export async function runKubectl(stack: StackHandle, args: readonly string[]): Promise<string> {
  const env = { ...process.env, KUBECONFIG: stack.kubeconfig }
  const { stdout } = await run(stack.kubectlPath, args, { env, maxBuffer })
  return stdout
}

/** Runs `kubectl apply -f -` on one object, with more options. */
export function applyWithKubectl(
  { kubectlPath, kubeconfig }: Pick<StackHandle, 'kubectlPath' | 'kubeconfig'>,
  object: object,
  ...options: string[]
): Promise<string> {
  const env = { ...process.env, KUBECONFIG: kubeconfig }
  return new Promise((resolve, reject) => {
    const child = execFile(kubectlPath, ['apply', '-f', '-', ...options], { env }, (error, stdout, stderr) =>
      error ? reject(new Error(stderr.trim(), { cause: error })) : resolve(stdout),
    )
    child.stdin?.end(JSON.stringify(object))
  })
}
