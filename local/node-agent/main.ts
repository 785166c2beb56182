import { mkdir } from 'node:fs/promises'
import { KubeClient } from '../../lib/kube/client.ts'
import { readKubeconfig } from '../../lib/kube/kubeconfig.ts'
import { createLogger } from '../../lib/log.ts'
import { onShutdown } from '../../lib/shutdown.ts'
import { Addresses } from './network/addresses.ts'
import { readAgentConfig } from './config.ts'
import { Events } from './events.ts'
import { KubeletServer } from './kubelet-server.ts'
import { NodeKeeper } from './node.ts'
import { Pods } from './pod/pods.ts'
import { Services } from './network/services.ts'

// The supervisor gives the agent longer than this to end (local/stack/programs/programs.ts).
const stopPodsMs = 12_000
// A longer request fails and is repeated, so that it does not block a pod's worker.
const requestTimeoutMs = 15_000

const file = process.argv[2]
if (!file) throw new Error('usage: node local/node-agent/main.ts CONFIG.json')
const config = readAgentConfig(file)
const log = createLogger('node-agent', config.logLevel)
await mkdir(config.stateDir, { recursive: true, mode: 0o700 })

const options = { userAgent: 'trainyard-node-agent', timeoutMs: requestTimeoutMs }
const client = new KubeClient(readKubeconfig(config.kubeconfig), options)
const events = new Events(client, config.nodeName, log)
const addresses = new Addresses(config.stateDir, config.podNetwork)
await addresses.load()

const services: Services = new Services({ client, events, log, listPods: () => pods.list() })
const pods = new Pods({ config, client, events, log, listServices: () => services.list() }, addresses)
const server = new KubeletServer(config, pods, log)
const node = new NodeKeeper(client, config, log)

onShutdown(
  log,
  async () => {
    await pods.stop(Date.now() + stopPodsMs)
    await services.stop()
    node.stop()
    server.close()
    client.close()
  },
  stopPodsMs + 2000,
)

// The port is opened first: a second agent for the same state must not change anything.
await server.listen()
void node.run()
await services.start()
await pods.start()
log.info({ node: config.nodeName }, 'running')
