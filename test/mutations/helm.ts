import type { Mutation } from './mutation.ts'

export const helmMutations: Mutation[] = [
  {
    fault: 'the Role of the apiserver has secrets',
    file: 'helm/trainyard/templates/apiserver.yaml',
    find: '    resources: [pods]\n    verbs: [list]',
    replace: '    resources: [pods, secrets]\n    verbs: [list]',
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
    fault: 'the source of a BaseModel can be changed',
    file: 'helm/trainyard/crds/basemodels.yaml',
    find: '- rule: self.source == oldSelf.source',
    replace: '- rule: self.source == self.source',
    test: 'test/control/trainer-settings.test.ts',
  },
  {
    fault: 'a cancelled TrainingJob can be taken back',
    file: 'helm/trainyard/crds/trainingjobs.yaml',
    find: "(has(self.cancel) && self.cancel)'",
    replace: '(has(self.cancel) || self.method != "")\'',
    test: 'test/integration/custom-resources.test.ts',
  },
]
