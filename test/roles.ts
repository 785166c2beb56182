import { readLocalConfig } from '../local/config.ts'
import { install } from '../local/install/install.ts'
import { Board } from '../local/terminal/board.ts'
import { createHelm, parseManifests, type Manifest } from './support/helm.ts'
import {
  comparePermissions,
  describeCall,
  listPermissions,
  readKubernetesCalls,
  type Call,
  type RoleRule,
} from './support/kubernetes-calls.ts'
import { isNightly } from './support/random-cases.ts'
import { noTests, type Outcome } from './support/reports.ts'

// The status server reads only what every service account may read.
const parts = ['apiserver', 'operator', 'uninstall'] as const

/** Permissions that no test of `npm test` uses, or not always, with the reason why the part has them. */
const reasons: Record<(typeof parts)[number], Record<string, string>> = {
  apiserver: {},
  operator: {},
  uninstall: {
    'create leases.coordination.k8s.io': 'If no operator has led, there is no Lease to take.',
  },
}

interface Role extends Manifest {
  rules: RoleRule[]
}

/** The permissions of each part, where users may have base models made. */
async function readPermissions(): Promise<Map<string, Call[]>> {
  const { signal } = new AbortController()
  const { controlPlane } = await install({ config: readLocalConfig(), board: new Board(), signal })
  const kubectl = () => Promise.reject(new Error('nothing is applied'))
  const helm = createHelm({ helmPath: controlPlane.helm, kubeconfig: '', kubectl })
  const manifests = parseManifests(await helm.render('trainyard', { defaults: { allow: ['*/*'] } }))
  const roles = manifests.filter((manifest): manifest is Role => manifest?.kind === 'Role')
  return new Map(roles.map(({ metadata, rules }) => [metadata.name.replace('trainyard-', ''), listPermissions(rules)]))
}

/** What does not fit between a part's calls, its permissions and the reasons of some of these. */
function judge(part: (typeof parts)[number], calls: Call[], permissions: Call[]): string[] {
  const { missing, unused: notUsed } = comparePermissions(calls, permissions)
  // A run without all files leaves calls out.
  const unused = isNightly() ? notUsed : []
  const known = new Set(permissions.map(describeCall))
  return [
    ...missing.map((call) => `the Role of the ${part} does not allow a call that it makes: ${call}`),
    ...unused
      .filter((permission) => !(permission in reasons[part]))
      .map((permission) => `no test needs a permission of the ${part}, and test/roles.ts has no reason: ${permission}`),
    ...Object.keys(reasons[part])
      .filter((permission) => !known.has(permission))
      .map((permission) => `test/roles.ts has a reason for what the ${part} may not do: ${permission}`),
  ]
}

/** Compares the calls in the audit logs of a folder with the Roles of the chart. A nightly run does it both ways. */
export async function checkRoles(auditLogs: string): Promise<Outcome> {
  const [calls, permissions] = await Promise.all([readKubernetesCalls(auditLogs), readPermissions()])
  const failures = parts.flatMap((part) => judge(part, calls.get(part) ?? [], permissions.get(part) ?? []))
  for (const failure of failures) console.error(`✗ ${failure}`)
  return { ...noTests(), passed: parts.length, failed: failures.length, failures }
}
