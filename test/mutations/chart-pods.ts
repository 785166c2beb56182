import type { Mutation } from './mutation.ts'

export const chartPodMutations: Mutation[] = [
  {
    fault: 'a pod of a part has settings of its own only',
    file: 'helm/trainyard/templates/_pods.tpl',
    find: '(deepCopy $value) (index $pods $name)',
    replace: '(deepCopy $value) dict',
    test: 'test/cluster/control-pods.test.ts',
  },
  {
    fault: 'a new release ends pods before new ones are ready',
    file: 'helm/trainyard/templates/_pods.tpl',
    find: 'maxUnavailable: 0',
    replace: 'maxUnavailable: 1',
    test: 'test/cluster/control-pods.test.ts',
  },
  {
    fault: 'engines answer the status server, and not the operator',
    file: 'helm/trainyard/templates/network-policies.yaml',
    find: '(dict "root" $ "from" (list "apiserver" "operator") "port" "http")',
    replace: '(dict "root" $ "from" (list "apiserver" "status-server") "port" "http")',
    test: 'test/cluster/network-policies.test.ts',
  },
  {
    fault: 'policies that nobody asked for close connections from pods',
    file: 'helm/trainyard/templates/_network.tpl',
    find: 'ternary (list) (list "Ingress")',
    replace: 'ternary (list) (list "Ingress" "Egress")',
    test: 'test/cluster/default-network-policies.test.ts',
  },
  {
    fault: 'the operator may take any Lease',
    file: 'helm/trainyard/templates/operator.yaml',
    find: '    resources: [leases]\n    resourceNames: [trainyard-operator]\n',
    replace: '    resources: [leases]\n',
    test: 'test/cluster/roles.test.ts',
  },
  {
    fault: 'the Postgres of a trial starts only once',
    file: 'helm/trainyard/templates/postgres.yaml',
    find: 'fsGroupChangePolicy: OnRootMismatch',
    replace: 'fsGroupChangePolicy: Always',
    test: 'test/cluster/chart.test.ts',
  },
]
