import { createReadStream } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'

/** A call of the Kubernetes API, or a permission for such calls. */
export interface Call {
  verb: string
  /** With its group and subresource, such as `models.trainyard.dev/status`. */
  resource: string
  /** Of the object. Empty for creations, and for lists of all. In a permission: any object. */
  name: string
}

const metadata = { level: 'Metadata', omitStages: ['RequestReceived'] }

// Our parts are pods, or processes of tests with the rights of an administrator. Bodies are not logged. A watch that never
// ends is logged when its response begins.
const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  rules: [
    { level: 'None', userGroups: ['system:serviceaccounts:kube-system'] },
    { ...metadata, userGroups: ['system:serviceaccounts'] },
    { ...metadata, users: ['admin'] },
    { level: 'None' },
  ],
}

const variable = 'TRAINYARD_TEST_AUDIT_LOGS'

/** The folder of the audit logs of this run. */
export const auditLogs = (): string => process.env[variable]!

/** Has the API servers of all stacks that this process and its children start write audit logs to a folder. */
export async function recordKubernetesCalls(folder: string): Promise<void> {
  await writeFile(path.join(folder, 'policy.yaml'), JSON.stringify(policy))
  process.env[variable] = folder
}

/** The calls of each of our parts, from the audit logs of a folder. */
export async function readKubernetesCalls(folder: string): Promise<Map<string, Call[]>> {
  const calls = new Map<string, Call & { part: string }>()
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.log')) continue
    for await (const line of createInterface(createReadStream(path.join(folder, name)))) {
      for (const call of parseAuditEvent(line)) calls.set(`${call.part} ${describeCall(call)}`, call)
    }
  }
  return Map.groupBy(calls.values(), ({ part }) => part)
}

interface AuditEvent {
  verb: string
  userAgent?: string
  objectRef?: { apiGroup?: string; resource: string; subresource?: string; name?: string }
  responseStatus?: { code?: number }
}

/** The calls of a line of an audit log. None, if it is not of one of our parts. */
export function parseAuditEvent(line: string): (Call & { part: string })[] {
  // Most lines are of tests, and long.
  if (!line.includes('"trainyard-')) return []
  const { verb, userAgent = '', objectRef, responseStatus } = JSON.parse(line) as AuditEvent
  const [, part] = /^trainyard-(.*)$/.exec(userAgent) ?? []
  if (part === undefined || !objectRef) return []
  const { apiGroup = '', resource, subresource = '', name = '' } = objectRef
  const call = { part, verb, resource: describeResource(apiGroup, resource, subresource) }
  const named = { ...call, name: verb === 'create' ? '' : name }
  // To apply an object that is not there needs the permission to create it.
  const isCreation = verb === 'patch' && responseStatus?.code === 201
  return isCreation ? [named, { ...call, verb: 'create', name: '' }] : [named]
}

/** A rule of a Role. */
export interface RoleRule {
  apiGroups: string[]
  resources: string[]
  resourceNames?: string[]
  verbs: string[]
}

/** The permissions that the rules of a Role give. */
export function listPermissions(rules: readonly RoleRule[]): Call[] {
  return rules.flatMap(({ apiGroups, resources, resourceNames = [''], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((described) => {
        const [plural = '', subresource = ''] = described.split('/')
        const resource = describeResource(group, plural, subresource)
        return resourceNames.flatMap((name) => verbs.map((verb) => ({ verb, resource, name })))
      }),
    ),
  )
}

/** The calls without a permission, one of each verb and resource, and the permissions without a call. */
export function comparePermissions(calls: readonly Call[], permissions: readonly Call[]) {
  const covers = (permission: Call, call: Call) =>
    permission.verb === call.verb &&
    permission.resource === call.resource &&
    (permission.name === '' || permission.name === call.name)
  const isMissing = (call: Call) => !permissions.some((permission) => covers(permission, call))
  const isUnused = (permission: Call) => !calls.some((call) => covers(permission, call))
  const missing = new Map(calls.filter(isMissing).map((call) => [`${call.verb} ${call.resource}`, call]))
  return {
    missing: [...missing.values()].map(describeCall),
    unused: permissions.filter(isUnused).map(describeCall),
  }
}

/** Such as `get leases.coordination.k8s.io trainyard-operator`. */
export function describeCall({ verb, resource, name }: Call): string {
  return [verb, resource, name].filter(Boolean).join(' ')
}

function describeResource(group: string, plural: string, subresource: string): string {
  return [[plural, group].filter(Boolean).join('.'), subresource].filter(Boolean).join('/')
}
