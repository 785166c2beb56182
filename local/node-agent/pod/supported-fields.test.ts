import { expect, test } from 'vitest'
import { findUnsupported } from './supported-fields.ts'

const container = { name: 'a', image: 'i', command: ['x'] }
const find = (spec: object) => findUnsupported({ metadata: {}, spec: { containers: [container], ...spec } })
const findIn = (fields: object) => find({ containers: [{ ...container, ...fields }] })

test('defaults of kube-apiserver are accepted', () => {
  const filledIn = {
    ...container,
    imagePullPolicy: 'IfNotPresent',
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    volumeMounts: [{ name: 'token', mountPath: '/var/run/secrets', readOnly: true }],
    livenessProbe: {
      httpGet: { path: '/', port: 'http', scheme: 'HTTP' },
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    },
  }
  const spec = {
    containers: [filledIn],
    dnsPolicy: 'ClusterFirst',
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
    priority: 0,
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    securityContext: {},
    serviceAccount: 'default',
    serviceAccountName: 'default',
    terminationGracePeriodSeconds: 30,
    hostNetwork: false,
    tolerations: [
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    ],
    volumes: [
      { name: 'e', emptyDir: {} },
      { name: 'h', hostPath: { path: '/x', type: '' } },
      {
        name: 'token',
        projected: {
          defaultMode: 420,
          sources: [
            { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
            { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
            {
              downwardAPI: { items: [{ path: 'ns', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] },
            },
          ],
        },
      },
    ],
  }
  expect(find(spec)).toBeUndefined()
})

test('security settings that only remove rights are accepted', () => {
  const securityContext = {
    runAsNonRoot: true,
    runAsUser: 1000,
    runAsGroup: 1000,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  }
  expect(findIn({ securityContext })).toBeUndefined()
})

test.each([
  ['spec.hostNetwork', find({ hostNetwork: true })],
  ['spec.hostPID', find({ hostPID: true })],
  ['spec.runtimeClassName', find({ runtimeClassName: 'gvisor' })],
  ['spec.hostAliases', find({ hostAliases: [{ ip: '1.2.3.4', hostnames: ['x'] }] })],
  ['spec.readinessGates', find({ readinessGates: [{ conditionType: 'x' }] })],
  [
    'spec.volumes[0].persistentVolumeClaim',
    find({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }),
  ],
  [
    'spec.volumes[0].hostPath.type: "Socket"',
    find({ volumes: [{ name: 'v', hostPath: { path: '/', type: 'Socket' } }] }),
  ],
  ['spec.containers[0].securityContext.privileged', findIn({ securityContext: { privileged: true } })],
  [
    'spec.containers[0].securityContext.capabilities.add',
    findIn({ securityContext: { capabilities: { add: ['X'] } } }),
  ],
  ['spec.containers[0].readinessProbe.grpc', findIn({ readinessProbe: { grpc: { port: 1 } } })],
  ['spec.containers[0].lifecycle.postStart', findIn({ lifecycle: { postStart: { exec: { command: ['x'] } } } })],
  ['spec.containers[0].ports[0].hostPort', findIn({ ports: [{ containerPort: 1, hostPort: 80 }] })],
  ['spec.containers[0].volumeDevices', findIn({ volumeDevices: [{ name: 'd', devicePath: '/dev/x' }] })],
  ['spec.containers[0].tty', findIn({ tty: true })],
  ['spec.initContainers[0].restartPolicy', find({ initContainers: [{ ...container, restartPolicy: 'Always' }] })],
  [
    'spec.containers[0].env[0].valueFrom.resourceFieldRef',
    findIn({ env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } }] }),
  ],
])('%s is rejected', (field, found) => {
  expect(found).toBe(field)
})
