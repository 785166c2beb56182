import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { loadKubeAccess } from '../../../lib/kube/access.ts'
import { createObject } from '../../../lib/kube/apply.ts'
import { KubeClient } from '../../../lib/kube/client.ts'
import { ignoreErrors, isGone } from '../../../lib/kube/error.ts'
import { layoutOf } from '../../../local/stack/layout.ts'
import { findFreePort } from '../../support/free-port.ts'
import { createNamespace, removeNamespace } from '../../support/namespace.ts'
import { nodeEnv } from '../../support/node-env.ts'
import type { Stack } from '../../support/stack.ts'
import { folderVariable } from './orders.ts'

const hook = new URL('hook.ts', import.meta.url).href
// No stack has this network, and the pods here use no addresses.
const podNetwork = '127.254'

/** A node of its own whose agent obeys orders, beside the stack's node. */
export interface FragileNode {
  kube: KubeClient
  namespace: string
  nodeName: string
  /** The folder of the orders. */
  orders: string
  /** The agent's folder. */
  state: string
  /** Where the processes of pods write. */
  notes: string
}

/** Starts the agent. It ends with the test. */
export async function openFragileNode(stack: Stack): Promise<FragileNode> {
  const name = `node-${randomUUID().slice(0, 8)}`
  const folder = await mkdtemp(path.join(tmpdir(), 'kill-points-node-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const [orders = '', state = '', notes = ''] = ['orders', 'state', 'notes'].map((each) => path.join(folder, each))
  await Promise.all([orders, state, notes].map((each) => mkdir(each)))
  const kube = new KubeClient(loadKubeAccess({ KUBECONFIG: stack.kubeconfig }), { userAgent: 'test' })
  onTestFinished(() => kube.close())
  await createNamespace(stack, name)
  onTestFinished(() => removeNamespace(stack, name))
  await addNode(kube, name)
  const config = path.join(folder, 'node-agent.json')
  const own = { nodeName: name, stateDir: state, podNetwork, kubeletPort: await findFreePort() }
  const like = JSON.parse(await readFile(layoutOf(stack.stateFolder).nodeAgent, 'utf8')) as object
  // The agent's own account may change no other node.
  await writeFile(config, JSON.stringify({ ...like, ...own, kubeconfig: stack.kubeconfig, logLevel: 'fatal' }))
  startAgent(config, orders)
  return { kube, namespace: name, nodeName: name, orders, state, notes }
}

/** A node on which the scheduler places nothing. */
async function addNode(kube: KubeClient, name: string): Promise<void> {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: { unschedulable: true } }
  await createObject(kube, '/api/v1/nodes', node)
  const remove = () => kube.request({ method: 'DELETE', path: `/api/v1/nodes/${name}` })
  onTestFinished(async () => {
    await remove().catch(ignoreErrors(isGone))
  })
}

function startAgent(config: string, orders: string): void {
  const args = [`--import=${hook}`, 'local/node-agent/main.ts', config]
  const env = { ...process.env, ...nodeEnv, [folderVariable]: orders }
  const agent = spawn(process.execPath, args, { env, stdio: 'inherit' })
  const exited = once(agent, 'exit')
  onTestFinished(async () => {
    agent.kill('SIGTERM')
    await exited
  })
}
