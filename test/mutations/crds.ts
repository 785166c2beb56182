import type { Mutation } from './mutation.ts'

export const crdMutations: Mutation[] = [
  {
    fault: 'a cancelled job may go on',
    file: 'crds/job-states.ts',
    find: "terminalStates = ['Succeeded', 'Failed', 'Cancelled'] as",
    replace: "terminalStates = ['Succeeded', 'Failed'] as",
    test: 'crds/job-states.test.ts',
  },
  {
    fault: 'the same specification in another order is another job',
    file: 'crds/spec-digest.ts',
    find: 'Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1))',
    replace: 'Object.entries(object)',
    test: 'crds/spec-digest.test.ts',
  },
  {
    fault: 'an alias hides a step number',
    file: 'crds/names.ts',
    find: '|step[.-]?\\d*|',
    replace: '|',
    test: 'crds/names.test.ts',
  },
  {
    fault: 'settings of SFT are allowed in jobs of RL',
    file: 'crds/training-settings/crd-rules.ts',
    find: "rule: allowOnlyIn('SFT', onlySft)",
    replace: "rule: allowOnlyIn('RL', onlySft)",
    test: 'crds/training-settings/crd.test.ts',
  },
  {
    fault: 'the source of a BaseModel can be changed',
    file: 'helm/trainyard/templates/crds/basemodels.yaml',
    find: '&immutable\n                        - rule: self == oldSelf',
    replace: '&immutable\n                        - rule: self == self',
    test: 'test/cluster/trainer-settings.test.ts',
  },
  {
    fault: 'a cancelled TrainingJob can be taken back',
    file: 'helm/trainyard/templates/crds/trainingjobs.yaml',
    find: "(has(self.cancel) && self.cancel)'",
    replace: "has(self.cancel)'",
    test: 'test/engine/custom-resources.test.ts',
  },
  {
    fault: 'a name can pretend to be the hash of another one',
    file: 'crds/model-labels.ts',
    find: ' && !text.startsWith(hashPrefix)',
    replace: '',
    test: 'crds/model-labels.test.ts',
  },
]
