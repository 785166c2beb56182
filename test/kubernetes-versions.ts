import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { runningStack } from './support/cluster-setup.ts'
import { createHelm, parseManifests } from './support/helm.ts'
import { installHelm3, installOldestKubernetes } from './support/other-versions.ts'
import { startOwnCluster, type OwnCluster } from './support/own-cluster.ts'
import type { Suite, SuiteContext } from './support/suite.ts'
import { runVitest } from './support/suites.ts'

// Each rendering in a server-side dry run, installations and upgrades of the objects, rules of custom resources, Roles.
const files = ['chart', 'base-model-schema', 'roles'].map((name) => `test/cluster/${name}.test.ts`)

const namespace = 'trainyard'

/** Which of the two is the oldest that is supported, and not the newest. */
interface Versions {
  isOldest?: boolean
  isHelm3?: boolean
}

/** Runs the tests of the chart on a cluster of their own, where no pod of Trainyard runs. */
async function runOnCluster(suite: SuiteContext, { isOldest, isHelm3 }: Versions) {
  const kubernetes = isOldest ? await installOldestKubernetes() : undefined
  const env = isHelm3 ? { TRAINYARD_TEST_HELM: (await installHelm3()).file } : {}
  const cluster = await startOwnCluster(kubernetes?.file)
  try {
    if (kubernetes) await requireVersion(cluster, kubernetes.version)
    await addDefinitions(cluster)
    const stackFile = path.join(suite.reports, 'stack.json')
    const { kubeconfig, kubectlPath, helmPath } = cluster
    await writeFile(stackFile, JSON.stringify({ kubeconfig, kubectlPath, helmPath }))
    return await runVitest(suite, { project: 'cluster', files, env: { ...env, [runningStack]: stackFile } })
  } finally {
    await cluster.remove()
  }
}

/** The cluster must be the one that the name of the suite promises. */
async function requireVersion(cluster: OwnCluster, wanted: string): Promise<void> {
  const { serverVersion } = JSON.parse(await cluster.kubectl('version', '--output=json')) as {
    serverVersion: { gitVersion: string }
  }
  if (serverVersion.gitVersion !== wanted) throw new Error(`Kubernetes is ${serverVersion.gitVersion}, not ${wanted}`)
}

/** What an installation has before its custom resources are applied. */
async function addDefinitions(cluster: OwnCluster): Promise<void> {
  await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const manifests = parseManifests(await createHelm(cluster).render(namespace, {}))
  for (const manifest of manifests) if (manifest.kind === 'CustomResourceDefinition') await cluster.apply(manifest)
  await cluster.kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s')
}

const suite = (name: string, versions: Versions): Suite => ({
  name,
  run: (context) => runOnCluster(context, versions),
})

/** The tests of the chart with the oldest versions. `npm test` runs them with the newest. */
export const kubernetesVersions: readonly Suite[] = [
  suite('oldest-kubernetes', { isOldest: true }),
  suite('oldest-kubernetes-helm-3', { isOldest: true, isHelm3: true }),
  suite('helm-3', { isHelm3: true }),
]
