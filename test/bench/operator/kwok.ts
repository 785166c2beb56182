import path from 'node:path'
import { startChildProgram } from '../../support/child-program.ts'
import { installGoTool } from '../../support/go-tool.ts'
import type { Stack } from '../../support/stack.ts'

const stages = path.join(import.meta.dirname, 'stages.yaml')
const nodeName = 'played'

/** The label of the nodes that kwok plays. No other pod comes there, and their pods go nowhere else. */
export const playedNodes = { 'trainyard.dev/bench-node': 'played' }

/** Starts kwok with one node, which runs any number of pods without a process for them. Returns what ends it. */
export async function playNodes(
  stack: Pick<Stack, 'kubeconfig' | 'apply' | 'kubectl'>,
): Promise<() => Promise<unknown>> {
  const program = await installGoTool({ program: 'kwok', package: 'sigs.k8s.io/kwok/cmd/kwok', folder: 'kwok' })
  const annotation = 'kwok.x-k8s.io/node=played'
  const selector = `--manage-nodes-with-annotation-selector=${annotation}`
  const args = ['--kubeconfig', stack.kubeconfig, '--config', stages, selector, '--node-lease-duration-seconds=40']
  await stack.apply(describeNode(annotation))
  const remove = () => stack.kubectl('delete', 'node', nodeName, '--ignore-not-found')
  const ready = () => stack.kubectl('wait', '--for=condition=Ready', `node/${nodeName}`, '--timeout=60s')
  try {
    const end = await startChildProgram({
      command: program,
      args,
      env: { ...process.env, HOME: '/nonexistent' },
      ready,
    })
    return () => end().then(remove)
  } catch (error) {
    await remove()
    throw error
  }
}

function describeNode(annotation: string): object {
  const [key, value] = annotation.split('=') as [string, string]
  const taints = Object.entries(playedNodes).map(([name, own]) => ({ key: name, value: own, effect: 'NoSchedule' }))
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: nodeName, annotations: { [key]: value }, labels: playedNodes },
    spec: { taints },
  }
}
