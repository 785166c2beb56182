import { writeFile, readFile } from 'node:fs/promises'
import path from 'node:path'
import { runningStack } from './support/cluster-setup.ts'
import { createHelm, parseManifests } from './support/helm.ts'
import { startOwnCluster, type OwnCluster } from './support/own-cluster.ts'
import { runVitest, type Suite, type SuiteContext } from './support/suites.ts'
import { versionFlags } from '../local/install/control-plane-build.ts'
import { findModuleVersion } from '../local/install/versions.ts'
import { installGoTool } from './support/go-tool.ts'

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

/** A program of another version than the one that the stack uses. */
interface OtherProgram {
  /** Such as v1.33.13. */
  version: string
  file: string
}

/** The kube-apiserver of the oldest minor that the chart takes. */
async function installOldestKubernetes(): Promise<OtherProgram> {
  const folder = 'oldest-kubernetes'
  const version = await readVersion(folder, 'k8s.io/kubernetes')
  const tool = { program: 'kube-apiserver', package: 'k8s.io/kubernetes/cmd/kube-apiserver', folder }
  return { version, file: await installGoTool({ ...tool, linkerFlags: versionFlags(version) }) }
}

/** Helm 3. Without a cluster, it takes the version of its Kubernetes client for that of the cluster. */
async function installHelm3(): Promise<OtherProgram> {
  const folder = 'helm-3'
  const version = await readVersion(folder, 'helm.sh/helm/v3')
  const [, minor] = (await readVersion(folder, 'k8s.io/client-go')).split('.')
  const variables = { k8sVersionMajor: '1', k8sVersionMinor: minor! }
  const linkerFlags = Object.entries(variables).map(
    ([name, value]) => `-X helm.sh/helm/v3/pkg/chartutil.${name}=${value}`,
  )
  const tool = { program: 'helm', package: 'helm.sh/helm/v3/cmd/helm', folder }
  return { version, file: await installGoTool({ ...tool, linkerFlags: linkerFlags.join(' ') }) }
}

async function readVersion(folder: string, module: string): Promise<string> {
  return findModuleVersion(await readFile(path.join(import.meta.dirname, folder, 'go.mod'), 'utf8'), module)
}
