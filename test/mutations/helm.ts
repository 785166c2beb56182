import type { Mutation } from './mutation.ts'

export const helmMutations: Mutation[] = [
  {
    fault: 'the Role of the apiserver has secrets',
    file: 'helm/trainyard/templates/apiserver.yaml',
    find: '    resources: [pods]\n    verbs: [list, watch]',
    replace: '    resources: [pods, secrets]\n    verbs: [list, watch]',
    test: 'test/control/chart.test.ts',
  },
  {
    fault: 'an upgrade makes another engine key',
    file: 'helm/trainyard/templates/_trainyard.tpl',
    find: 'index $kept "engine-key" |',
    replace: 'index $kept "engineKey" |',
    test: 'test/control/chart.test.ts',
  },
  {
    fault: 'an upgrade with another engine key forgets the previous one',
    file: 'helm/trainyard/templates/_trainyard.tpl',
    find: '(ternary $keptPrevious $before',
    replace: '(ternary $keptPrevious $keptPrevious',
    test: 'test/control/chart.test.ts',
  },
]
