import { runChild } from '../../install/run-child.ts'
import { UserError } from '../../user-error.ts'
import { layoutOf } from '../layout.ts'

/** kubectl on one stack. */
export interface Kubectl {
  kubectl: string
  stateFolder: string
  signal: AbortSignal
}

/** Runs kubectl on the stack and returns what it prints. */
export async function runKubectl(
  { kubectl, stateFolder, signal }: Kubectl,
  args: string[],
  input = '',
): Promise<string> {
  const all = ['--kubeconfig', layoutOf(stateFolder).kubeconfig, ...args]
  const result = await runChild(kubectl, all, { signal, input })
  if (result.code === 0) return result.stdout
  throw new UserError(
    `${result.tail}\nkubectl ${args[0]} failed (exit ${result.code}); see the output of kubectl above.`,
  )
}

/** Server-side apply of manifests, with a field owner of our own. */
export async function applyManifests(kubectl: Kubectl, manifests: string): Promise<void> {
  const args = ['apply', '--server-side', '--force-conflicts', '--field-manager=trainyard-up', '-f', '-']
  await runKubectl(kubectl, args, manifests)
}
