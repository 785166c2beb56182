import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { runningStack } from './support/control-setup.ts'
import { createHelm, parseManifests } from './support/helm.ts'
import { installHelm3, installOldestKubernetes, type OtherProgram } from './support/other-versions.ts'
import { startOwnCluster, type OwnCluster } from './support/own-cluster.ts'
import type { Suite, SuiteContext } from './support/suite.ts'
import { runSuites, runVitest } from './support/suites.ts'

// Each rendering in a server-side dry run, installations and upgrades of the objects, rules of custom resources, Roles.
const files = ['chart', 'base-model-schema', 'roles'].map((name) => `test/control/${name}.test.ts`)

const namespace = 'trainyard'

/** Runs the tests of the chart on a cluster of their own, where no pod of Trainyard runs. */
async function runOnCluster(suite: SuiteContext, kubernetes: OtherProgram | undefined, env: NodeJS.ProcessEnv) {
  const cluster = await startOwnCluster(kubernetes?.file)
  try {
    if (kubernetes) await requireVersion(cluster, kubernetes.version)
    await addDefinitions(cluster)
    const stackFile = path.join(suite.reports, 'stack.json')
    const { kubeconfig, kubectlPath, helmPath } = cluster
    await writeFile(stackFile, JSON.stringify({ kubeconfig, kubectlPath, helmPath }))
    return await runVitest(suite, { project: 'control', files, env: { ...env, [runningStack]: stackFile } })
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

const oldest = await installOldestKubernetes()
const helm3 = await installHelm3()
const withHelm3 = { TRAINYARD_TEST_HELM: helm3.file }

const suite = (name: string, kubernetes: OtherProgram | undefined, env: NodeJS.ProcessEnv = {}): Suite => ({
  name,
  run: (context) => runOnCluster(context, kubernetes, env),
})

// npm test runs the newest versions of both.
await runSuites([
  [
    suite(`Kubernetes ${oldest.version}`, oldest),
    suite(`Kubernetes ${oldest.version}, Helm ${helm3.version}`, oldest, withHelm3),
    suite(`Helm ${helm3.version}`, undefined, withHelm3),
  ],
])
