// Runs before the chart is uninstalled. Without an operator, resources with our finalizer could not be deleted any more.
import { loadKubeAccess } from '../../lib/kube/access.ts'
import { mergePatch } from '../../lib/kube/apply.ts'
import { KubeClient } from '../../lib/kube/client.ts'
import { ignoreErrors, isGone } from '../../lib/kube/error.ts'
import { LeaderElector } from '../../lib/kube/leader.ts'
import { deploymentPath } from '../../lib/kube/paths.ts'
import { createLogger } from '../../lib/log.ts'
import { readTenants, Tenants } from '../tenants.ts'
import { loadConfig } from './config.ts'
import { stripFinalizers } from './strip-finalizers.ts'

const config = loadConfig()
const log = createLogger('uninstall', config.LOG_LEVEL)
const namespace = config.TRAINYARD_NAMESPACE
const client = new KubeClient(loadKubeAccess(config), { userAgent: 'trainyard-uninstall' })

// The operator would add the finalizers again.
const operator = deploymentPath(namespace, 'trainyard-operator')
await mergePatch(client, operator, { spec: { replicas: 0 } }).catch(ignoreErrors(isGone))
const elector = new LeaderElector({
  client,
  namespace,
  name: 'trainyard-operator',
  identity: 'trainyard-uninstall',
  onLost: () => process.exit(1),
  log,
})
await elector.acquire()
const { namespaces } = new Tenants(namespace, readTenants(config.TRAINYARD_TENANTS))
for (const watched of namespaces) {
  for (const kind of ['TrainingJob', 'Model'] as const) {
    const resources = await stripFinalizers(client, watched, kind)
    log.info({ namespace: watched, kind, resources }, 'resources can be deleted')
  }
}
await elector.release()
client.close()
