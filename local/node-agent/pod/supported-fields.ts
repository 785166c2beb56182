import type { Pod } from '../objects.ts'

/**
 * Which fields of a pod this node supports. A pod that sets another one does not run: it becomes Failed with reason
 * UnsupportedByLocalNode, so that nothing passes here by luck and behaves otherwise on a real cluster.
 *
 * - `true`: supported as by a kubelet, with any value.
 * - `harmless`: has no effect on one machine without containers, and nothing that worked with it stops working:
 *   placement (the real scheduler has done it), resources (not limited here), image pulls, DNS (the machine's own),
 *   security settings that only remove rights, and the user (processes run as the one who started the stack). `readOnly`
 *   mounts and `medium: Memory` are plain folders.
 * - a list of values: only these.
 * - a nested object: field by field; of a list, each item.
 */
type Rule = true | 'harmless' | readonly (string | boolean | number)[] | { [field: string]: Rule }

const securityContext: Rule = {
  runAsNonRoot: 'harmless',
  runAsUser: 'harmless',
  runAsGroup: 'harmless',
  allowPrivilegeEscalation: 'harmless',
  readOnlyRootFilesystem: 'harmless',
  seccompProfile: 'harmless',
  appArmorProfile: 'harmless',
  seLinuxOptions: 'harmless',
  capabilities: { drop: 'harmless' },
  fsGroup: 'harmless',
  fsGroupChangePolicy: 'harmless',
  supplementalGroups: 'harmless',
  procMount: ['Default'],
}

const httpGet: Rule = { host: true, httpHeaders: true, path: true, port: true, scheme: true }
const exec: Rule = { command: true }

const probe: Rule = {
  exec,
  httpGet,
  tcpSocket: true,
  initialDelaySeconds: true,
  periodSeconds: true,
  timeoutSeconds: true,
  successThreshold: true,
  failureThreshold: true,
  terminationGracePeriodSeconds: true,
}

const fieldRef: Rule = { apiVersion: ['v1'], fieldPath: true }
const downwardItems: Rule = { path: true, mode: true, fieldRef }
const serviceAccountToken: Rule = { audience: true, expirationSeconds: true, path: true }

const volume: Rule = {
  name: true,
  emptyDir: { medium: 'harmless', sizeLimit: 'harmless' },
  hostPath: { path: true, type: ['', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate'] },
  configMap: true,
  secret: true,
  downwardAPI: { items: downwardItems, defaultMode: true },
  projected: {
    defaultMode: true,
    sources: { configMap: true, secret: true, downwardAPI: { items: downwardItems }, serviceAccountToken },
  },
}

const container: Rule = {
  name: true,
  image: true,
  command: true,
  args: true,
  workingDir: true,
  env: { name: true, value: true, valueFrom: { fieldRef, secretKeyRef: true, configMapKeyRef: true } },
  envFrom: true,
  ports: { name: true, containerPort: true, protocol: 'harmless' },
  volumeMounts: {
    name: true,
    mountPath: true,
    subPath: true,
    subPathExpr: true,
    readOnly: 'harmless',
    recursiveReadOnly: 'harmless',
  },
  startupProbe: probe,
  livenessProbe: probe,
  readinessProbe: probe,
  lifecycle: { preStop: { exec, httpGet, sleep: true } },
  terminationMessagePath: true,
  terminationMessagePolicy: true,
  imagePullPolicy: 'harmless',
  resources: 'harmless',
  resizePolicy: 'harmless',
  securityContext,
}

const { startupProbe: _s, livenessProbe: _l, readinessProbe: _r, lifecycle: _c, ...initContainer } = container

const spec: Rule = {
  containers: container,
  initContainers: initContainer,
  volumes: volume,
  restartPolicy: true,
  terminationGracePeriodSeconds: true,
  activeDeadlineSeconds: true,
  enableServiceLinks: true,
  serviceAccountName: true,
  serviceAccount: true,
  automountServiceAccountToken: true,
  nodeName: true,
  hostname: 'harmless',
  subdomain: 'harmless',
  dnsPolicy: 'harmless',
  dnsConfig: 'harmless',
  imagePullSecrets: 'harmless',
  securityContext,
  schedulerName: 'harmless',
  nodeSelector: 'harmless',
  affinity: 'harmless',
  tolerations: 'harmless',
  topologySpreadConstraints: 'harmless',
  priority: 'harmless',
  priorityClassName: 'harmless',
  preemptionPolicy: 'harmless',
  schedulingGates: 'harmless',
  resources: 'harmless',
}

/** The first field of a pod that this node does not support, as a path from `spec`. Undefined if there is none. */
export function findUnsupported(pod: Pod): string | undefined {
  return findInValue(pod.spec, spec, 'spec')
}

/** The fields of a pod that this node only pretends to honour, as paths without indices: nothing here proves them. */
export function listPretended(pod: Pod): string[] {
  return [...new Set(listInValue(pod.spec, spec, 'spec'))].sort()
}

function listInValue(value: unknown, rule: Rule | undefined, path: string): string[] {
  if (isUnset(value) || rule === undefined || rule === true || isValueList(rule)) return []
  if (rule === 'harmless') return [path]
  return [value]
    .flat()
    .flatMap((item) =>
      Object.entries(item as object).flatMap(([field, child]) => listInValue(child, rule[field], `${path}.${field}`)),
    )
}

function findInValue(value: unknown, rule: Rule | undefined, path: string): string | undefined {
  if (isUnset(value) || rule === true || rule === 'harmless') return undefined
  if (rule === undefined) return path
  if (isValueList(rule)) return rule.includes(value as string) ? undefined : `${path}: ${JSON.stringify(value)}`
  const items = Array.isArray(value)
    ? value.map((item, index) => [item, `${path}[${index}]`] as const)
    : [[value, path] as const]
  for (const [item, itemPath] of items) {
    const found = findInObject(item, rule, itemPath)
    if (found) return found
  }
  return undefined
}

function findInObject(value: unknown, rule: { [field: string]: Rule }, path: string): string | undefined {
  for (const [field, child] of Object.entries(value as Record<string, unknown>)) {
    const found = findInValue(child, rule[field], `${path}.${field}`)
    if (found) return found
  }
  return undefined
}

function isValueList(rule: Rule): rule is readonly (string | boolean | number)[] {
  return Array.isArray(rule)
}

/** Whether a value has no effect: absent, false, or empty. `emptyDir: {}` has an effect, and is supported anyway. */
function isUnset(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}
