import type { Mutation } from './mutation.ts'

export const helmMutations: Mutation[] = [
  {
    fault: 'engines may get the key to the whole bucket',
    file: 'helm/trainyard/templates/_trainyard.tpl',
    find: '(or (not $name) (eq $name $s3.secretName))',
    replace: '(not $name)',
    test: 'test/control/chart.test.ts',
  },
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
  {
    fault: 'a BaseModel that leaves the values stays',
    file: 'operator/base-model-values/plan.ts',
    find: "specs[metadata.name ?? ''] === undefined",
    replace: "specs[metadata.name ?? ''] === ''",
    test: 'operator/base-model-values/plan.test.ts',
  },
  {
    fault: 'an operator works with older custom resource definitions',
    file: 'operator/definitions/check.ts',
    find: 'lacking.length === 0 ? undefined',
    replace: 'lacking.length < 9 ? undefined',
    test: 'test/control/install.test.ts',
  },
  {
    fault: 'a trial uses another password than its Postgres has',
    file: 'helm/trainyard/templates/_postgres.tpl',
    find: '$_ := set .Values.secrets "postgresPassword"',
    replace: '$_ := set dict "postgresPassword"',
    test: 'test/control/chart.test.ts',
  },
  {
    fault: 'a second release takes the custom resource definitions of the first',
    file: 'helm/trainyard/templates/_crds.tpl',
    find: '{{- if and $owner (ne',
    replace: '{{- if and false (ne',
    test: 'test/control/install.test.ts',
  },
  {
    fault: 'the image of trainers does not have their code',
    file: 'helm/images/python.Dockerfile',
    find: 'COPY trainer/trainyard_trainer ./trainyard_trainer\n',
    replace: '',
    test: 'test/support/images/images.test.ts',
  },
  {
    fault: 'the digest of a base is that of one architecture, and not of all',
    file: 'test/support/images/pin.ts',
    find: "  'application/vnd.oci.image.index.v1+json',\n",
    replace: '',
    test: 'test/support/images/pin.test.ts',
  },
]
