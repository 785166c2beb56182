import type { Mutation } from './mutation.ts'

export const mutations: Mutation[] = [
  {
    fault: 'a job trains on the data of an entity whose name begins with its own',
    file: 'artifacts/layout.ts',
    find: "folderOf('blob', { entity })].some((folder) => key.startsWith(`${folder}/`))",
    replace: "folderOf('blob', { entity })].some((folder) => key.startsWith(folder))",
    test: 'artifacts/layout.test.ts',
  },
  {
    fault: 'a permit is released twice',
    file: 'lib/fair-semaphore.ts',
    find: '      held = false\n',
    replace: '',
    test: 'lib/fair-semaphore.test.ts',
  },
  {
    fault: "the loss's sign is wrong",
    file: 'trainer/trainyard_trainer/rl/loss.py',
    find: '        losses = -clipped.detach()',
    replace: '        losses = clipped.detach()',
    test: 'trainer/trainyard_trainer/rl/loss_test.py',
  },
]
