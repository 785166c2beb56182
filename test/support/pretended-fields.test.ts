import { expect, test } from 'vitest'
import type { BaseModel } from '../../crds/generated.ts'
import { findUnsupported, listPretended } from '../../local/node-agent/pod/supported-fields.ts'
import type { Pod } from '../../local/node-agent/objects.ts'
import type { PodSettings } from '../../operator/base-model/pod/common.ts'
import { buildEnginePodSpec } from '../../operator/base-model/engine/pod.ts'
import { buildTrainerPod } from '../../operator/base-model/trainer/pod.ts'

const settings: PodSettings = {
  images: { engine: { cpu: 'e', cuda: 'e' }, trainer: { cpu: 't', cuda: 't' } },
  pullPolicy: 'IfNotPresent',
  engineKeys: ['key'],
  artifacts: { volume: { hostPath: { path: '/data' } } },
  listenOnPodIp: true,
  podSecurityContext: { runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 },
}
const baseModel = (spec: object): BaseModel => ({
  metadata: { name: 'tiny', namespace: 'ns', uid: 'u' },
  spec: { names: ['tiny'], source: { path: 'models/tiny' }, ...spec },
})
const engineOf = (spec: object) =>
  ({ metadata: {}, spec: buildEnginePodSpec(baseModel(spec), settings) }) as unknown as Pod
const trainer = buildTrainerPod(baseModel({}), settings, { name: 'trainer' }) as unknown as Pod

// Whoever adds a field here proves it elsewhere: that it is in the pod by a unit test, and what it does by a kubelet.
const pretended = [
  'spec.containers.imagePullPolicy',
  'spec.containers.resources',
  'spec.containers.securityContext.capabilities.drop',
  'spec.containers.securityContext.readOnlyRootFilesystem',
  'spec.containers.volumeMounts.readOnly',
  'spec.securityContext.fsGroup',
  'spec.securityContext.runAsGroup',
  'spec.securityContext.runAsNonRoot',
  'spec.securityContext.runAsUser',
  'spec.volumes.emptyDir.medium',
]

test.each<[string, Pod]>([
  ['an engine', engineOf({})],
  ['a trainer', trainer],
  ['an engine with its trainer', engineOf({ colocated: true })],
])('the node of one machine only pretends to honour these fields of %s', (_, pod) => {
  expect(findUnsupported(pod)).toBeUndefined()
  expect(listPretended(pod)).toEqual(pretended)
})
