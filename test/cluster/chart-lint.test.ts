import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { BaseModel } from '../../crds/generated.ts'
import { buildEngineDeployment } from '../../operator/base-model/engine/deployment.ts'
import { buildDisruptionBudget, buildEngineService } from '../../operator/base-model/engine/service.ts'
import { buildTrainerPod } from '../../operator/base-model/trainer/pod.ts'
import { installGoTool } from '../support/go-tool.ts'
import { createHelm } from '../support/helm.ts'
import { useStack } from '../support/stack.ts'
import { podSettings } from '../support/pod-settings.ts'

const run = promisify(execFile)
const helm = createHelm(useStack())

/** What kube-score calls critical and we keep, with the reason. `objects` limits it to these. */
const kept: Record<string, { reason: string; objects?: string[] }> = {
  'container-ephemeral-storage-request-and-limit': {
    reason: 'Uploads are spooled in the artifact volume or in /spool; what they need follows from uploadLimitBytes.',
  },
  'container-image-pull-policy': {
    reason: 'Images have a version or a digest, which never changes. images.pullPolicy is a value.',
  },
  'container-resources': {
    reason:
      'Memory of control parts has a limit. A processor limit slows bursts down while the node is idle. What engines and trainers ' +
      'need follows from their model: their BaseModel has the limits.',
  },
  'container-security-context-user-group-id': {
    reason: 'The user of the images is 1000. podSecurityContext is a value.',
  },
  'networkpolicy-targets-pod': {
    reason: 'It is for pods whose base model comes from a hub. Those of the test come from a folder.',
    objects: ['trainyard-hub'],
  },
  'pod-probes-identical': {
    reason:
      'An engine whose server does not answer is not ready, and after a minute it is started again: there is no other check.',
    objects: ['tiny-engine'],
  },
  'statefulset-has-servicename': {
    reason: 'Its Service has an address of its own. It has one pod, and nobody asks for that by name.',
    objects: ['trainyard-postgres'],
  },
}

interface ScoredObject {
  object_meta: { name: string }
  checks: { check: { id: string }; grade: number; skipped: boolean }[]
}

const critical = 1
const replicas = { replicas: 2 }
const everything = {
  trial: true,
  secrets: { databaseUrl: '' },
  networkPolicies: { enabled: true },
  apiserver: replicas,
  operator: replicas,
  statusServer: replicas,
}

/** The critical findings of kube-score, as `CHECK OBJECT`. */
async function listFindings(manifests: string): Promise<{ check: string; object: string }[]> {
  const program = await installGoTool({
    program: 'kube-score',
    package: 'github.com/zegl/kube-score/cmd/kube-score',
    folder: 'lint-tools',
  })
  const folder = await mkdtemp(path.join(tmpdir(), 'chart-lint-'))
  try {
    const file = path.join(folder, 'manifests.yaml')
    await writeFile(file, manifests)
    const args = ['score', '--output-format', 'json', file]
    // It fails if it has findings, and prints them all the same.
    const { stdout } = await run(program, args).catch((error: { stdout: string }) => error)
    return (JSON.parse(stdout) as ScoredObject[]).flatMap(({ object_meta, checks }) =>
      checks
        .filter(({ grade, skipped }) => grade === critical && !skipped)
        .map(({ check }) => ({ check: check.id, object: object_meta.name })),
    )
  } finally {
    await rm(folder, { recursive: true })
  }
}

const namespace = 'lint'
const baseModel: BaseModel = {
  metadata: { name: 'tiny', namespace, uid: 'u', generation: 1 },
  spec: { names: ['tiny'], source: { path: 'models/tiny' } },
}
const settings = {
  ...podSettings,
  // As the chart's.
  podSecurityContext: { runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 },
}
const rollout = { replicas: 2, rollingUpdate: { maxSurge: 0, maxUnavailable: 1 }, rolledOutAt: '2026-01-01T00:00:00Z' }

/** What the operator makes for a base model. */
const listChildren = (): object[] => [
  buildEngineDeployment(baseModel, settings, rollout),
  buildTrainerPod(baseModel, settings, { name: 'tiny-trainer' }),
  buildEngineService(baseModel),
  buildDisruptionBudget(baseModel, rollout.replicas)!,
]

test('kube-score finds nothing critical in the chart and the pods of the operator without a written reason, and each reason is needed', async () => {
  const rendered = await helm.render(namespace, everything)
  const children = listChildren().map((object) => JSON.stringify(object))
  const findings = await listFindings([rendered, ...children].join('\n---\n'))
  const isKept = ({ check, object }: { check: string; object: string }) =>
    kept[check] !== undefined && (kept[check].objects?.includes(object) ?? true)
  expect(findings.filter((finding) => !isKept(finding))).toEqual([])
  expect(new Set(findings.map(({ check }) => check))).toEqual(new Set(Object.keys(kept)))
})
